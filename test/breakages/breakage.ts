import type { PlayName } from './plays.ts';

/** The kinds of faults. Each breakage has one. */
export type Kind =
  | 'content'
  | 'order'
  | 'loss'
  | 'loss in a crash'
  | 'double'
  | 'pace'
  | 'leak'
  | 'isolation'
  | 'refusal'
  | 'rollout';

/** A change of one file of the service. `search` must occur in the file exactly once. */
export interface Patch {
  /** The path below `src/`. */
  readonly file: string;
  readonly search: string;
  readonly replacement: string;
}

/** A fault that is planted into a copy of the service, and the way in which the simulator must find it. */
export interface Breakage {
  readonly name: string;
  /** One sentence: the behaviour of the broken service. */
  readonly about: string;
  readonly kind: Kind;
  readonly patches: readonly Patch[];
  /** The run that must find it. */
  readonly play: PlayName;
  /** The figures that may show it: an expectation about one of them must not hold. */
  readonly figures: readonly string[];
  /** The cause, as the story below that expectation must tell it. */
  readonly cause: RegExp;
  /** False for a fault of the whole service, such as a leak: then no story about one device can show it. */
  readonly isOfDevice?: boolean;
}
