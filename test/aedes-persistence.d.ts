declare module 'aedes-persistence/abstract.js' {
  /** The suite that any persistence of Aedes can run; see the library's README. */
  export default function abstractPersistence(options: {
    test: (title: string, body: (suite: unknown) => Promise<void>) => void;
    testAsync: true;
    persistence: () => Promise<object>;
  }): void;
}
