/** Thrown by a command that was interrupted by Ctrl-C. Exit code 130. */
export class Interrupted extends Error {
  /**
   * Lines that are printed: the work that the service or the devices continue without the command, and how to follow it
   * again.
   */
  readonly lines: readonly string[];

  constructor(...lines: readonly string[]) {
    super('interrupted');
    this.lines = lines;
  }
}
