# Writes OUT, the source file with page.html, page.css, the SCRIPTS of FOLDER, and the policy that permits only these:
# Content-Security-Policy identifies embedded parts by their SHA-256 in base64.
cmake_policy(VERSION 3.25)

# sha256_base64(VARIABLE TEXT): CMake only provides hexadecimal digests.
function(sha256_base64 variable text)
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 digits "${text}")
  # 64 hexadecimal digits are 256 bits: 21 groups of three digits give two characters each, and the last digit gives the
  # first four bits of one more.
  set(letters "")
  foreach(i RANGE 20)
    math(EXPR at "${i} * 3")
    string(SUBSTRING "${digits}" ${at} 3 three)
    math(EXPR first "0x${three} >> 6")
    math(EXPR second "0x${three} & 63")
    string(SUBSTRING "${alphabet}" ${first} 1 first)
    string(SUBSTRING "${alphabet}" ${second} 1 second)
    string(APPEND letters ${first}${second})
  endforeach()
  string(SUBSTRING "${digits}" 63 1 last)
  math(EXPR last "0x${last} << 2")
  string(SUBSTRING "${alphabet}" ${last} 1 last)
  set(${variable} "${letters}${last}=" PARENT_SCOPE)
endfunction()

file(READ ${FOLDER}/page.html page)
file(READ ${FOLDER}/page.css style)
set(script "\"use strict\";\n")
foreach(file IN LISTS SCRIPTS)
  file(READ ${file} text)
  string(APPEND script "${text}")
endforeach()
# Indentation is a tenth of the document.
foreach(part page style script)
  string(REGEX REPLACE "\n[ \n]+" "\n" ${part} "${${part}}")
  if("${${part}}" MATCHES "\\)page\"")
    message(FATAL_ERROR "${part}: )page\" ends the literal that holds it")
  endif()
endforeach()

sha256_base64(style_digest "${style}")
sha256_base64(script_digest "${script}")
string(CONCAT policy "default-src 'none'; script-src 'sha256-${script_digest}'; style-src 'sha256-${style_digest}'; "
  "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")

file(WRITE ${OUT} "#include \"server/page/document.h\"

namespace latebind::server::document {

constinit const std::string_view kPage = R\"page(${page})page\";
constinit const std::string_view kStyle = R\"page(${style})page\";
constinit const std::string_view kScript = R\"page(${script})page\";
constinit const std::string_view kPolicy = \"${policy}\";

}  // namespace latebind::server::document
")
