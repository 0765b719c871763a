// Shares of what is published.

/** What published numbers add up to, if that is more than noise; otherwise null. */
function publishedSum(answers) {
  const known = answers.filter((one) => one && !one.rule);
  const sum = known.reduce((total, { value }) => total + value, 0);
  const variance = known.reduce((total, { entry: { table }, line }) => total + line.cells * varianceOf(table.noise[table.stage]), 0);
  return known.length && sum > 4 * Math.sqrt(variance) ? sum : null;
}

/** A number as a share of a whole. Noise can take it below 0, which is shown as 0, or above all of it: then it is null, as without a whole. */
function shareOf(answer, whole) {
  if (!answer || answer.rule || whole === null || answer.value > whole) return null;
  return Math.max(answer.value, 0) / whole;
}
