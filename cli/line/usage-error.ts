/**
 * Thrown when the command line cannot be carried out as it was typed. `option` names the part to correct. Exit code 2.
 */
export class UsageError extends Error {
  readonly option: string;

  constructor(option: string, fault: string) {
    super(`${option}: ${fault}`);
    this.option = option;
  }
}
