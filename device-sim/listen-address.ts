import type { OptionName } from './options.ts';
import { UsageError } from './usage-error.ts';

/** Reads `HOST:PORT` or `PORT`; an IPv6 address is in brackets. Port 0 is a free one. */
export function readListen(option: OptionName, text: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === '' || Number(port) > 65_535) throw new UsageError(`--${option}`, `"${text}" is not HOST:PORT`);
  return { host: host.replace(/^\[|\]$/g, '') || '127.0.0.1', port: Number(port) };
}
