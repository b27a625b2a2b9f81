/** Makes the device identifier with this number, with its Luhn check digit. */
export function deviceIdOf(number: number): string {
  const body = `357${String(number).padStart(11, '0')}`;
  let sum = 0;
  for (let position = 0; position < 14; position += 1) {
    const digit = Number(body[position]) * (position % 2 === 1 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return `${body}${(10 - (sum % 10)) % 10}`;
}

/** Makes device identifiers, numbered from `first`. */
export const deviceIds = (count: number, first = 0): string[] =>
  Array.from({ length: count }, (_, index) => deviceIdOf(first + index));
