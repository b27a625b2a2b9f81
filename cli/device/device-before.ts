/** The valid deviceId just before a deviceId, with its check digit (ISO/IEC 7812-1, annex B); undefined for the first. */
export function deviceBefore(deviceId: string): string | undefined {
  const number = Number(deviceId.slice(0, -1));
  if (number === 0) return undefined;
  const digits = String(number - 1).padStart(deviceId.length - 1, '0');
  const sum = Array.from(digits).reduceRight((total, digit, index) => {
    const isDoubled = (digits.length - index) % 2 === 1;
    const value = Number(digit) * (isDoubled ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
