// Reads the chat template that joins a query and a document to one text. A pure function of the files; any thread may
// call it.
#pragma once

#include <memory>

#include "core/result.h"
#include "embedding/folder/config_files.h"
#include "embedding/folder/folder_contents.h"
#include "embedding/folder/model_files.h"
#include "embedding/folder/modules.h"
#include "embedding/inputs/chat_frame.h"

namespace latebind::embedding {

// A file that holds only the chat template. It takes precedence over the entry of tokenizer_config.json.
inline constexpr std::string_view kChatTemplateFile = "chat_template.jinja";

// Returns the frame, or null if the model takes its texts without one. As in the reference, a model has a frame if
// sentence_bert_config.json lists "message" among its modalities or, without a modules.json, if the tokenizer has a
// template. Returns kInvalidModel or kUnsupported, naming the file.
[[nodiscard]] core::Result<std::shared_ptr<const ChatFrame>> read_chat_frame(const ModelFiles& files,
                                                                             const Modules& modules,
                                                                             const FolderContents& contents);

}  // namespace latebind::embedding
