/** The command line is wrong: `option` names the option to correct. Exit code 2. */
export class UsageError extends Error {
  readonly option: string;

  constructor(option: string, fault: string) {
    super(`${option}: ${fault}`);
    this.option = option;
  }
}
