/** A fault in the command line; `option` names the option to correct. The simulator then ends with exit code 2. */
export class UsageError extends Error {
  readonly option: string;

  constructor(option: string, fault: string) {
    super(`${option}: ${fault}`);
    this.option = option;
  }
}
