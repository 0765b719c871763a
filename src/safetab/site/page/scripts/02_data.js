// The data files: scripts that each hand over one value, which works from a disk as well as from a server.

const waiting = new Map();
const handedOver = new Map();
const KEPT_FILES = 60;

window.safetabData = (name, value) => {
  handedOver.set(name, value);
};

/** The value of a data file, read once. */
function dataOf(name) {
  if (!waiting.has(name)) {
    waiting.set(name, new Promise((done, failed) => {
      const script = element("script", { src: `data/${name}.js` });
      script.onload = () => {
        script.remove();
        const value = handedOver.get(name);
        handedOver.delete(name);
        if (value === undefined) failed(new Error(`data/${name}.js holds nothing.`));
        else done(value);
      };
      script.onerror = () => failed(new Error(`data/${name}.js can't be read. Is the folder of this site complete?`));
      document.head.append(script);
    }));
    forgetOldest();
  }
  return waiting.get(name);
}

/** Files of numbers are forgotten when many were read; names and facts stay. */
function forgetOldest() {
  const numbers = [...waiting.keys()].filter((name) => name.startsWith("areas/") || name.startsWith("totals/"));
  if (numbers.length > KEPT_FILES) waiting.delete(numbers[0]);
}

/** The last position whose key is not above the wanted one; keys are pairs that rise. */
function lastNotAbove(firsts, wanted) {
  let low = 0;
  let high = firsts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (comesAfter(firsts[middle], wanted)) high = middle;
    else low = middle + 1;
  }
  return Math.max(low - 1, 0);
}

function comesAfter(key, wanted) {
  return key[0] !== wanted[0] ? key[0] > wanted[0] : key[1] > wanted[1];
}

/** The numbers of the files that can hold keys between two, both included. */
function filesBetween(firsts, least, most) {
  const found = [];
  for (let file = lastNotAbove(firsts, least); file <= lastNotAbove(firsts, most); file += 1) found.push(file);
  return found;
}
