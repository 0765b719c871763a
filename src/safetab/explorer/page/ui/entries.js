// What people type: texts to exact values, or a sentence that says what is wrong.

const MOST_DIGITS = 24;

/** { text } with the decimal as JSON spells it, exactly what was typed; or { problem }. */
function decimalEntry(typed) {
  const text = typed.trim();
  if (text === "") return { problem: "Nothing is entered. Write a number such as 0.159." };
  if (/^\d+,\d+$/.test(text)) return { problem: "Write a decimal point instead of the comma." };
  if (/^[-−]/.test(text)) return { problem: "This can't be negative." };
  const [, number, exponent = ""] = /^(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?$/i.exec(text) ?? [];
  if (number === undefined) return { problem: "This isn't a decimal number. Write it such as 0.159." };
  if (text.length > MOST_DIGITS) return { problem: `More than ${MOST_DIGITS} digits. Round it.` };
  const [whole, part = ""] = number.split(".");
  const digits = whole.replace(/^0+(?=\d)/, "") || "0";
  return { text: (part === "" ? digits : `${digits}.${part}`) + exponent };
}

/** { number } with a whole number from `least` to `most`; or { problem }. */
function wholeEntry(typed, least, most) {
  const text = typed.trim().replace(/[,\s](?=\d{3}(\D|$))/g, "");
  if (text === "") return { problem: "Nothing is entered. Write a whole number." };
  if (/^[-−]/.test(text) && least >= 0) return { problem: "This can't be negative." };
  if (!/^\d+$/.test(text)) return { problem: "Write a whole number, without decimals." };
  const number = Number(text);
  if (number < least) return { problem: `The least is ${shown(least, "count")}.` };
  if (number > most) return { problem: `The most is ${shown(most, "count")}.` };
  return { number };
}

/** { text } with a decimal between two bounds, both excluded unless said; or { problem }. */
function decimalWithin(typed, { above, below, orEqual = null, words }) {
  const entry = decimalEntry(typed);
  if (entry.problem) return entry;
  const value = Number(entry.text);
  const inside = (value > above && value < below) || (orEqual !== null && value === orEqual);
  return inside ? entry : { problem: words };
}

/** A tiny probability such as 1e-10 or 0.00001, as typed. */
function deltaEntry(typed) {
  const text = typed.trim().toLowerCase();
  const value = Number(text);
  if (!/^(\d+\.?\d*|\.\d+)(e-\d{1,3})?$/.test(text) || !(value > 0 && value < 1)) {
    return { problem: "Write a number above 0 and below 1, such as 1e-10." };
  }
  if (value < 1e-300) return { problem: "The least is 1e-300." };
  return { text };
}

/** Three significant digits, plainly: a slider's place as a decimal. */
function plainDecimal(value, digits = 3) {
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(value)));
  const text = value.toFixed(Math.min(places, 20));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
