import type { RuleName } from '../rules.ts';
import type { Stage } from '../stage.ts';

/** One thing that the service does to the device, and the rules that the device must obey then. */
export interface Case {
  readonly about: string;
  /** The rules that this case checks. Those on the form of messages and packets are checked in every case. */
  readonly rules: readonly RuleName[];
  /** `first` and `last` cases keep their order; `--seed` decides the order of those between. */
  readonly when?: 'first' | 'last';
  /** Only played with `--by-hand`, because somebody must do something to the device. */
  readonly isByHand?: true;
  /** Also played with `--restart`: the command of that option stands in for the person. */
  readonly isRestart?: true;
  /** Only played with `--hours`, which says how long. */
  readonly isDrive?: true;
  /** Only played with `--thorough`, because it takes minutes on a slow device. */
  readonly isLong?: true;
  /** The rule that an acknowledgement of an unknown transactionId breaks in this case. */
  readonly strayRule?: RuleName;
  /**
   * Plays the case; the returned text is shown in the table. Throws a Breach, LeftOut or NotPlayed.
   */
  readonly play: (stage: Stage) => Promise<string | undefined>;
}
