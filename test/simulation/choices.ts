import { draw, type Random } from '@lapel/device-sim/random';

export type Choices = ReturnType<typeof choicesOf>;

/** Choices of one world. */
export function choicesOf(random: Random) {
  const between = (min: number, max: number): number => Math.round(draw(random, { min, max }));
  const one = <Item>(items: readonly Item[]): Item =>
    items[Math.min(items.length - 1, Math.trunc(random() * items.length))]!;
  return {
    between,
    one,
    maybe: (probability: number): boolean => random() < probability,
    some: <Item>(items: readonly Item[], probability: number): Item[] => items.filter(() => random() < probability),
    milliseconds: (min: number, max: number): string => `${between(min, max)}ms`,
    seconds: (min: number, max: number): string => `${between(min, max)}s`,
  };
}
