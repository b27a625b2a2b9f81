import { deriveSeed, type Range } from '../random.ts';
import {
  type Fault,
  type FaultKind,
  type FaultRule,
  FILE_OPERATIONS,
  type Occasion,
  type OccasionKind,
  traitOf,
} from './fault.ts';

/** One random decision about a device. The decisions of two runs can be written to a log and compared. */
export interface Decision {
  readonly occasion: Occasion;
  /** The name of the decision: `fault`, `latency`, `fails` ... */
  readonly about: string;
  readonly outcome: string | number | boolean | null;
}

/**
 * The random decisions about one device. Each is a function of the seed, the device and the occasion, and never the
 * next number of a stream: one decision more or less, earlier or later, changes none of the others.
 */
export interface Chances {
  /** Whether the device has no faults at all. */
  readonly isPlain: boolean;
  /** Whether a rule gives the device this fault with a probability above 0. */
  can(kind: FaultKind): boolean;
  /** Whether a rule of the device names a fault that happens at such a moment. */
  mayBefall(kind: OccasionKind): boolean;
  /** Decides the fault that happens at this moment, if any: that of the first rule that applies. */
  on(occasion: Occasion): Fault | undefined;
  /** Decides whether something with a probability happens. */
  hits(occasion: Occasion, about: string, probability: number): boolean;
  /** A random number within the bounds of a range. */
  within(occasion: Occasion, about: string, range: Range): number;
}

interface ChancesOptions {
  seed: number;
  /** The index of the device in the fleet, or another number that no other device has. */
  device: number;
  rules?: readonly FaultRule[] | undefined;
  onDecision?: ((decision: Decision) => void) | undefined;
}

/** The FNV-1a hash. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let place = 0; place < text.length; place += 1) hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
  return hash >>> 0;
}

export const occasionKey = ({ kind, operation = '', key }: Occasion): string => `${kind}/${operation}/${key}`;

function applies(
  { fault, operations, versions, phases }: FaultRule,
  { kind, operation, version, phase }: Occasion,
): boolean {
  const trait = traitOf(fault);
  if (trait.occasion !== kind) return false;
  if (trait.files && !FILE_OPERATIONS.includes(operation ?? '')) return false;
  if (trait.operations && !trait.operations.includes(operation ?? '')) return false;
  if (operations && (operation === undefined || !operations.includes(operation))) return false;
  if (versions && (version === undefined || !versions.includes(version))) return false;
  return !phases || (phase !== undefined && phases.includes(phase));
}

/** The occasion that decides whether a rule hits: for a rule about versions, the version is bad or not for the device. */
const decisive = ({ versions }: FaultRule, occasion: Occasion): Occasion =>
  versions ? { kind: occasion.kind, key: `version ${occasion.version}` } : occasion;

/** A class and not closures, because many thousand devices have one each and so share the methods. */
class SeededChances implements Chances {
  readonly #seed: number;
  readonly #rules: readonly FaultRule[];
  readonly #onDecision: ((decision: Decision) => void) | undefined;

  constructor({ seed, device, rules = [], onDecision }: ChancesOptions) {
    this.#seed = deriveSeed(seed, device);
    this.#rules = rules;
    this.#onDecision = onDecision;
  }

  get isPlain(): boolean {
    return this.#rules.length === 0;
  }

  can(kind: FaultKind): boolean {
    return this.#rules.some(({ fault, probability }) => fault === kind && probability > 0);
  }

  mayBefall(kind: OccasionKind): boolean {
    return this.#rules.some(({ fault }) => traitOf(fault).occasion === kind);
  }

  hits(occasion: Occasion, about: string, probability: number): boolean {
    if (probability <= 0) return false;
    return this.#decide(occasion, about, this.#number(occasion, about) < probability);
  }

  within(occasion: Occasion, about: string, { min, max }: Range): number {
    if (min === max) return min;
    return this.#decide(occasion, about, min + this.#number(occasion, about) * (max - min));
  }

  on(occasion: Occasion): Fault | undefined {
    const mine = this.#rules.some((rule) => applies(rule, occasion));
    if (!mine) return undefined;
    const place = this.#rules.findIndex(
      (rule, index) =>
        applies(rule, occasion) && this.#number(decisive(rule, occasion), `rule ${index}`) < rule.probability,
    );
    const rule = this.#rules[place];
    if (!rule) {
      this.#decide(occasion, 'fault', null);
      return undefined;
    }
    const range = rule.delay ?? traitOf(rule.fault).delay;
    const share = this.#number(occasion, `delay ${place}`);
    const delay = range ? Math.round(range.min + share * (range.max - range.min)) : 0;
    this.#decide(occasion, 'fault', range ? `${rule.fault} ${delay}` : rule.fault);
    return { kind: rule.fault, delay, ...(rule.code !== undefined && { code: rule.code }) };
  }

  /** A number in [0, 1). */
  #number(occasion: Occasion, about: string): number {
    return deriveSeed(this.#seed, hashOf(occasionKey(occasion)), hashOf(about)) / 4_294_967_296;
  }

  #decide<Outcome extends string | number | boolean | null>(
    occasion: Occasion,
    about: string,
    outcome: Outcome,
  ): Outcome {
    this.#onDecision?.({ occasion, about, outcome });
    return outcome;
  }
}

export const createChances = (options: ChancesOptions): Chances => new SeededChances(options);
