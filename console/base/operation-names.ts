/** The names of the operations whose name for people is not made of the same words. */
const NAMES: Readonly<Record<string, string>> = {
  setApn: 'Set APN',
  setWifi: 'Set Wi-Fi',
  getConnectivityState: 'Read connectivity',
  setConnectivityState: 'Set connectivity',
  pairBluetooth: 'Pair Bluetooth',
};
/** Makes the words of an operation's name: `setLanguage` becomes `Set language`. */
const wordsOf = (operation: string): string => {
  const words = operation.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
};
export const operationName = (operation: string): string => NAMES[operation] ?? wordsOf(operation);
