const UNITS = ['B', 'kB', 'MB', 'GB'];

/** A size such as `8.2 kB`, in decimal units as network and disk vendors use. */
export function byteSize(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** step;
  return `${step === 0 ? value : value.toFixed(1)} ${UNITS[step]}`;
}

// With this width the longest line still fits into 80 columns.
const WIDTH = 24;

/** A progress bar: `[############            ]  50 %`. */
export function bar(percent: number, width = WIDTH): string {
  const filled = Math.round((width * Math.min(100, Math.max(0, percent))) / 100);
  return `[${'#'.repeat(filled)}${' '.repeat(width - filled)}] ${String(Math.floor(percent)).padStart(3)} %`;
}

/** The progress and speed of a transfer. */
export function transfer(sent: number, size: number, milliseconds: number): string {
  const percent = size === 0 ? 100 : (100 * sent) / size;
  const rate = milliseconds > 0 ? `  ${byteSize(Math.round((1000 * sent) / milliseconds))}/s` : '';
  return `${bar(percent)}  ${byteSize(sent)} of ${byteSize(size)}${rate}`;
}

/** A number with separators: `100,000`. */
export const count = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, ',');

/** A duration: `4.2 s`, `2 min 5 s`, `1 h 2 min`. */
export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
