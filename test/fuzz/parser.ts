import type { Random } from '@lapel/device-sim/random';

/** A parser of foreign bytes, as it is tried with changed documents. */
export interface FuzzedParser {
  /** Valid documents, which the parser accepts as they are. */
  readonly documents: readonly Buffer[];
  /** Short texts that mean something in the format. */
  readonly words: readonly string[];
  /**
   * Gives an input to the parser. Returns whether the parser has accepted it. Throws when the parser breaks a promise: an
   * error that is not documented, or a result that a second way of reading does not confirm.
   */
  read(input: Buffer, random: Random): Promise<boolean> | boolean;
}
