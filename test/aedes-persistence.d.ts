declare module 'aedes-persistence/abstract.js' {
  /** The test suite for persistences of Aedes; see the README of the library. */
  export default function abstractPersistence(options: {
    test: (title: string, body: (suite: unknown) => Promise<void>) => void;
    testAsync: true;
    persistence: () => Promise<object>;
  }): void;
}
