import type { CommandWitness } from './command-witness.ts';

/** The facts about the commands of the world that is played, which the modules of its service tell. */
interface Present {
  readonly commands: CommandWitness;
  /** The most commands of a device without a PUBACK or an answer; undefined: as many as the service has by itself. */
  readonly inFlight: number | undefined;
}

let present: Present | undefined;
export const useCommands = (made: Present): void => {
  present = made;
};
export function ofPresent(): Present {
  if (!present) throw new Error('the world has no witness');
  return present;
}
