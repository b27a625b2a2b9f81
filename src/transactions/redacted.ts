const SECRET = /password|secret|credential/i;
const HIDDEN = '••••';

/** The same without what is secret in it: passwords, at any depth, are dots. */
export function redacted<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(redacted) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    SECRET.test(name) && member !== null ? HIDDEN : redacted(member as unknown),
  ]);
  return Object.fromEntries(members) as Value;
}
