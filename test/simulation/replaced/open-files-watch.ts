/** Files of the machine are never used up by the world. */
export const watchOpenFiles = () => ({ doubt: (): string | undefined => undefined, async [Symbol.asyncDispose]() {} });
