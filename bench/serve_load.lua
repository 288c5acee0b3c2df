-- What bench/serve.py has wrk send: bodies of TEXTS texts each, round and round through a file of texts.
-- Arguments: TEXTS, FILE, MODEL, float|base64, milliseconds between a client's requests (on average; 0: none).
local bodies, at = {}, 0
local threads, pause = 0, 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(arguments)
  local texts, file, model, format = tonumber(arguments[1]), arguments[2], arguments[3], arguments[4]
  local all = {}
  for line in io.lines(file) do
    line = line:gsub('[%c\\"]', function(letter) return string.format("\\u%04x", letter:byte()) end)
    all[#all + 1] = '"' .. line .. '"'
  end
  for first = 1, #all, texts do
    local some = {}
    for i = first, math.min(first + texts - 1, #all) do some[#some + 1] = all[i] end
    bodies[#bodies + 1] = wrk.format("POST", "/v1/embeddings", {["Content-Type"] = "application/json"},
      '{"model":"' .. model .. '","encoding_format":"' .. format .. '","input":[' .. table.concat(some, ",") .. "]}")
  end
  at = number * 7 % #bodies
  pause = tonumber(arguments[5])
  -- wrk asks every client before every request, which costs time where there is nothing to wait for.
  if pause == 0 then delay = nil end
end

function delay()
  return math.random(0, 2 * pause)
end

function request()
  at = at % #bodies + 1
  return bodies[at]
end
