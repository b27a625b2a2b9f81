/** Logarithms of factorials; index n is log(n!). It grows with the largest number that was asked for. */
const logFactorials = [0, 0];

function logFactorial(n: number): number {
  for (let each = logFactorials.length; each <= n; each += 1)
    logFactorials.push((logFactorials[each - 1] as number) + Math.log(each));
  return logFactorials[n] as number;
}

const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

/** Two groups: the devices of each, and how many of them are bad. */
export interface TwoGroups {
  treated: number;
  treatedBad: number;
  control: number;
  controlBad: number;
}

/**
 * Fisher's exact test, one-sided: the probability that chance alone puts at least `treatedBad` of all bad devices into the
 * treated group, if the group makes no difference. It assumes nothing about how frequent bad devices are.
 */
export function chanceOf({ treated, treatedBad, control, controlBad }: TwoGroups): number {
  const bad = treatedBad + controlBad;
  const all = logChoose(treated + control, bad);
  let sum = 0;
  for (let k = treatedBad; k <= Math.min(treated, bad); k += 1)
    if (bad - k <= control) sum += Math.exp(logChoose(treated, k) + logChoose(control, bad - k) - all);
  return Math.min(1, sum);
}
