/** Makes device identifiers with their Luhn check digits, numbered from `first`. */
export function deviceIds(count: number, first = 0): string[] {
  return Array.from({ length: count }, (_, index) => {
    const body = `35700000${String(first + index).padStart(6, '0')}`;
    let sum = 0;
    for (let position = 0; position < 14; position += 1) {
      const digit = Number(body[position]) * (position % 2 === 1 ? 2 : 1);
      sum += digit > 9 ? digit - 9 : digit;
    }
    return `${body}${(10 - (sum % 10)) % 10}`;
  });
}
