import { deriveSeed, type Range } from '../random.ts';
import { type Fault, type FaultRule, type Occasion, traitOf } from './fault.ts';

/** One decision about a device, for a log that two runs can be compared by. */
export interface Decision {
  readonly occasion: Occasion;
  /** What was decided: `fault`, `latency`, `fails` ... */
  readonly about: string;
  readonly outcome: string | number | boolean | null;
}

/**
 * What befalls one device. Every draw is a function of the seed, the device and the occasion, never the next number of a
 * stream: one draw more or less, earlier or later, changes nothing for the others.
 */
export interface Chances {
  /** The fault that befalls it on this occasion, if any: that of the first rule which hits. */
  on(occasion: Occasion): Fault | undefined;
  /** A number of [0, 1) about an aspect of the occasion. */
  number(occasion: Occasion, about: string): number;
  /** Whether something of a probability is so. */
  hits(occasion: Occasion, about: string, probability: number): boolean;
  /** A number within bounds. */
  within(occasion: Occasion, about: string, range: Range): number;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let place = 0; place < text.length; place += 1) hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
  return hash >>> 0;
}

const keyOf = ({ kind, operation = '', key }: Occasion): string => `${kind}/${operation}/${key}`;

/** `device`: its place in the fleet, or anything else that is its own. */
export function createChances({
  seed,
  device,
  rules = [],
  onDecision,
}: {
  seed: number;
  device: number;
  rules?: readonly FaultRule[];
  onDecision?: ((decision: Decision) => void) | undefined;
}): Chances {
  const own = deriveSeed(seed, device);

  function number(occasion: Occasion, about: string): number {
    return deriveSeed(own, hashOf(keyOf(occasion)), hashOf(about)) / 4_294_967_296;
  }

  function decide<Outcome extends string | number | boolean | null>(
    occasion: Occasion,
    about: string,
    outcome: Outcome,
  ): Outcome {
    onDecision?.({ occasion, about, outcome });
    return outcome;
  }

  function applies({ fault, operations, phases }: FaultRule, { kind, operation, phase }: Occasion): boolean {
    if (traitOf(fault).occasion !== kind) return false;
    if (operations && (operation === undefined || !operations.includes(operation))) return false;
    return !phases || (phase !== undefined && phases.includes(phase));
  }

  const within = (occasion: Occasion, about: string, { min, max }: Range): number =>
    min === max ? min : min + number(occasion, about) * (max - min);

  return {
    number,
    hits: (occasion, about, probability) =>
      decide(occasion, about, probability > 0 && number(occasion, about) < probability),
    within: (occasion, about, range) => decide(occasion, about, within(occasion, about, range)),

    on(occasion) {
      const place = rules.findIndex(
        (rule, index) => applies(rule, occasion) && number(occasion, `rule ${index}`) < rule.probability,
      );
      const rule = rules[place];
      if (!rule) {
        decide(occasion, 'fault', null);
        return undefined;
      }
      const range = rule.delay ?? traitOf(rule.fault).delay;
      const delay = range ? Math.round(within(occasion, `delay ${place}`, range)) : 0;
      decide(occasion, 'fault', range ? `${rule.fault} ${delay}` : rule.fault);
      return { kind: rule.fault, delay };
    },
  };
}
