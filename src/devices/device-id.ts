/** True for a device identifier: an IMEI, 15 digits whose last is the Luhn check digit. */
export function isDeviceId(text: string): boolean {
  if (!/^\d{15}$/.test(text)) return false;
  let sum = 0;
  for (let index = 0; index < 15; index += 1) {
    const digit = text.charCodeAt(index) - 48;
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
