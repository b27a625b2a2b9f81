declare module 'semver' {
  /** Only the function that the tests use: -1, 0 or 1 by precedence. */
  export function compare(a: string, b: string): -1 | 0 | 1;
  const semver: { compare: typeof compare };
  export default semver;
}
