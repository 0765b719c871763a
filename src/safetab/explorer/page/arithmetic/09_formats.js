// How numbers are spelled; a test compares each with Python's exact number to the digits shown.

const NO_NUMBER = "–";

function grouped(integer) {
  return String(integer).replace(/\B(?=(\d{3})+$)/g, ",");
}

function shown(value, kind) {
  if (value === null || value === undefined || Number.isNaN(value)) return NO_NUMBER;
  switch (kind) {
    case "count":
    case "margin": return grouped(value);
    case "sigma": return significant(value, 5);
    case "chance": return percent(value, 4);
    case "relative": return percent(value, 3);
    case "share": return `${(100 * value).toFixed(1)} %`;
    case "loss": return lossText(value);
    case "paper's loss": return lossText(value, 5);
    case "expected": return significant(value, 4);
    case "average": return value < 1000 ? value.toFixed(1) : grouped(Math.round(value));
    default: return String(value);
  }
}

/** So many significant digits, whole numbers grouped, very large and small ones with a power of ten. */
function significant(value, digits) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-298) return "below 10^-298"; // where doubles lose their digits
  if (size < 1e-4 || size >= 1e12) return value.toExponential(digits - 1).replace("e", " × 10^").replace("^+", "^");
  if (size >= 10 ** digits) return grouped(Math.round(value));
  return groupedDecimal(value.toPrecision(digits));
}

function groupedDecimal(text) {
  const [whole, part] = text.split(".");
  return part === undefined ? grouped(whole) : `${grouped(whole)}.${part}`;
}

/** A chance near 1 shows the digits in which it differs from 1. */
function percent(value, digits) {
  if (value === 0 || value === 1) return `${100 * value} %`;
  if (value > 0.99 && value < 1) {
    const nines = Math.floor(-Math.log10(1 - value)) - 2;
    return nines > 7 ? "over 99.9999999 %" : `${(100 * value).toFixed(digits - 2 + nines)} %`;
  }
  return `${significant(100 * value, digits)} %`;
}
