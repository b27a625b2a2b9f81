/** Splits `PACKAGE@VERSION`; a version may contain `@`, a package may not. Parts that are missing are empty. */
export function splitVersion(text: string): { package: string; version: string } {
  const at = text.indexOf('@');
  return at < 0 ? { package: text, version: '' } : { package: text.slice(0, at), version: text.slice(at + 1) };
}
