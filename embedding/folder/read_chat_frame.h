// Reads the chat template by which a model takes its two texts. A pure function of the files; any thread may call it.
#pragma once

#include <memory>

#include "core/result.h"
#include "embedding/folder/config_files.h"
#include "embedding/folder/folder_contents.h"
#include "embedding/folder/model_files.h"
#include "embedding/folder/modules.h"
#include "embedding/inputs/chat_frame.h"

namespace latebind::embedding {

// A file with the chat template alone, which precedes the entry of tokenizer_config.json.
inline constexpr std::string_view kChatTemplateFile = "chat_template.jinja";

// Returns the frame, or null if the model takes its texts without one: as in the reference, there is one if
// sentence_bert_config.json lists "message" among its modalities or, without a modules.json, if the tokenizer has a
// template. Returns kInvalidModel or kUnsupported, naming the file.
[[nodiscard]] core::Result<std::shared_ptr<const ChatFrame>> read_chat_frame(const ModelFiles& files,
                                                                             const Modules& modules,
                                                                             const FolderContents& contents);

}  // namespace latebind::embedding
