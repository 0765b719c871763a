// Exact decimals and fractions. A budget becomes a floating-point number only to describe noise.

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/;

function fraction(numerator, denominator = 1n) {
  const divisor = greatestCommonDivisor(numerator < 0n ? -numerator : numerator, denominator) || 1n;
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

function greatestCommonDivisor(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

/** The fraction of a decimal text; null if the text is not a decimal. */
function fractionOf(text) {
  const match = DECIMAL.exec(String(text).trim());
  if (!match || match[0].length > 60) return null;
  const [, sign, whole, part = "", exponent = "0"] = match;
  const digits = BigInt(whole + part) * (sign === "-" ? -1n : 1n);
  const power = Number(exponent) - part.length;
  return power >= 0 ? fraction(digits * 10n ** BigInt(power)) : fraction(digits, 10n ** BigInt(-power));
}

const plus = (a, b) => fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);
const minus = (a, b) => plus(a, { numerator: -b.numerator, denominator: b.denominator });
const times = (a, b) => fraction(a.numerator * b.numerator, a.denominator * b.denominator);
const isAbove = (a, b) => a.numerator * b.denominator > b.numerator * a.denominator;
const ZERO = fraction(0n);
const ONE = fraction(1n);
const TWO = fraction(2n);

/** The nearest double, except for a last bit or two. */
function toNumber({ numerator, denominator }) {
  const shift = 80 - (bitLength(numerator) - bitLength(denominator));
  const scaled = shift >= 0 ? (numerator << BigInt(shift)) / denominator : numerator / (denominator << BigInt(-shift));
  return shift > 1000 ? (Number(scaled) * 2 ** -1000) * 2 ** (1000 - shift) : Number(scaled) * 2 ** -shift;
}

function bitLength(integer) {
  return (integer < 0n ? -integer : integer).toString(2).length;
}

/** The decimal text of a fraction that has one. Denominators of budgets are products of 2 and 5. */
function decimalText({ numerator, denominator }) {
  let places = 0;
  let scale = 1n;
  while ((scale % denominator) !== 0n) {
    places += 1;
    scale *= 10n;
    if (places > 80) return String(toNumber({ numerator, denominator }));
  }
  const digits = ((numerator < 0n ? -numerator : numerator) * (scale / denominator)).toString().padStart(places + 1, "0");
  const sign = numerator < 0n ? "-" : "";
  return sign + (places ? `${digits.slice(0, -places)}.${digits.slice(-places)}` : digits);
}

function roundedUp(a, b) {
  return (a + b - 1n) / b;
}

const LOSS_DIGITS = 10;

/** A loss as safetab.core.privacy.reference.loss_text spells it: exact if that takes few digits, otherwise rounded up. */
function lossText(loss, digits = LOSS_DIGITS) {
  if (loss.numerator === 0n) return "0";
  const power = String(loss.numerator).length - String(loss.denominator).length;
  const decimals = Math.max(0, digits - 1 - (isAbove(powerOfTen(power), loss) ? power - 1 : power));
  const scale = 10n ** BigInt(decimals);
  const units = roundedUp(loss.numerator * scale, loss.denominator);
  const part = String(units % scale).padStart(decimals, "0").replace(/0+$/, "");
  return grouped(units / scale) + (part ? `.${part}` : "");
}

// How numbers are spelled. A test compares each with Python's exact number to the digits shown.

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

/** A number with the given significant digits, thousands grouped; very large and small ones with a power of ten. */
function significant(value, digits) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-298) return "below 10^-298"; // below this, doubles lose digits
  if (size < 1e-4 || size >= 1e12) return value.toExponential(digits - 1).replace("e", " × 10^").replace("^+", "^");
  if (size >= 10 ** digits) return grouped(Math.round(value));
  return groupedDecimal(value.toPrecision(digits));
}

function groupedDecimal(text) {
  const [whole, part] = text.split(".");
  return part === undefined ? grouped(whole) : `${grouped(whole)}.${part}`;
}

/** A percentage. A chance near 1 shows the digits in which it differs from 1. */
function percent(value, digits) {
  if (value === 0 || value === 1) return `${100 * value} %`;
  if (value > 0.99 && value < 1) {
    const nines = Math.floor(-Math.log10(1 - value)) - 2;
    return nines > 7 ? "over 99.9999999 %" : `${(100 * value).toFixed(digits - 2 + nines)} %`;
  }
  return `${significant(100 * value, digits)} %`;
}
