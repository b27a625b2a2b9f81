/** The command line is wrong: `option` names what is to be corrected. Exit code 2. */
export class UsageError extends Error {
  readonly option: string;

  constructor(option: string, fault: string) {
    super(`${option}: ${fault}`);
    this.option = option;
  }
}
