// Formats numbers for people, exactly as server/page/figures.cpp does.
const nothing = "–";
const isNumber = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0;
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const member = (object, name) => (isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined);
const objectsOf = (list) => (Array.isArray(list) ? list.filter(isObject) : []);
const textOf = (value) => (typeof value === "string" ? value : "");
const numberOrZero = (value) => (isNumber(value) ? value : 0);

const withCommas = (number) => String(Math.round(Math.min(number, 9e15))).replace(/\B(?=(\d{3})+$)/g, ",");
const tenths = (number) => (Math.floor(number * 10 + 0.5) / 10).toFixed(1);
const countWords = (number) => (isNumber(number) ? withCommas(number) : nothing);
const counted = (number, noun) =>
  isNumber(number) ? `${withCommas(number)} ${noun}${number === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}` : "";
const rateWords = (number) =>
  !isNumber(number) ? nothing : number > 0 && number < 9.95 ? tenths(number) : withCommas(number);
const msWords = (ms) =>
  !isNumber(ms) ? nothing : ms < 9950 ? `${rateWords(ms)} ms` : `${rateWords(ms / 1000)} s`;
const percentWords = (part, whole) =>
  whole > 0 ? `${Math.floor((Math.max(part, 0) * 100) / whole + 0.5)} %` : nothing;
const joined = (parts) => parts.filter((part) => part !== "").join(" · ");

function bytesWords(bytes) {
  if (!isNumber(bytes)) return nothing;
  if (bytes < 2 ** 10) return `${withCommas(bytes)} B`;
  if (bytes < 2 ** 20) return `${rateWords(bytes / 2 ** 10)} KiB`;
  if (bytes < 2 ** 30) return `${rateWords(bytes / 2 ** 20)} MiB`;
  return `${rateWords(bytes / 2 ** 30)} GiB`;
}

function durationWords(seconds) {
  if (!isNumber(seconds)) return nothing;
  const whole = Math.floor(Math.min(seconds, 9e15));
  const minutes = Math.floor(whole / 60);
  const hours = Math.floor(minutes / 60);
  if (whole < 60) return `${whole} s`;
  if (hours < 1) return `${minutes} min`;
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const timeWords = (iso) =>
  iso.length < 17 || iso[10] !== "T" || !iso.endsWith("Z") ? iso : `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
