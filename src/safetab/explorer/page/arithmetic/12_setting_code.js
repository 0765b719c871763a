// A setting as a short text for the address of the page: where it differs from a base setting.

const CODES = { definition: "d", max_race_codes: "c", gamma: "g", suppression_chance: "s" };

function settingCode(facts, base, setting) {
  const parts = [];
  const put = (name, value, other) => { if (String(value) !== String(other)) parts.push(`${name}=${value}`); };
  for (const [field, name] of Object.entries(CODES)) put(name, setting[field], base[field]);
  for (const pass of Object.keys(PASS_KEYS)) put(pass, Number(setting.passes[pass]), Number(base.passes[pass]));
  facts.levels.forEach(({ key }, number) => {
    put(`b${number}`, setting.budgets[key], base.budgets[key]);
    put(`t${number}`, setting.thresholds[key].join("."), base.thresholds[key].join("."));
  });
  return parts.join("~");
}

/** The setting that a code means, checked as a config.json would be; null if it means none. */
function settingOfCode(facts, baseText, code) {
  try {
    const setting = structuredClone(settingOfConfig(facts, baseText).setting);
    code.split("~").filter(Boolean).forEach((part) => putCoded(facts, setting, part.split("=")));
    const checked = settingOfConfig(facts, configText(facts, baseText, setting)).setting;
    return checked && facts.levels.every((level) => undrawable(facts, checked, level) === null) ? checked : null;
  } catch {
    return null;
  }
}

function putCoded(facts, setting, [name, value]) {
  const field = Object.keys(CODES).find((one) => CODES[one] === name);
  if (field !== undefined) setting[field] = field === "max_race_codes" ? Number(value) : value;
  else if (name in PASS_KEYS) setting.passes[name] = value === "1";
  else {
    const { key } = facts.levels[Number(name.slice(1))];
    if (name[0] === "b") setting.budgets[key] = value;
    else setting.thresholds[key] = value.split(".").map(Number);
  }
}
