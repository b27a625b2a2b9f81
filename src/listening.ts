import { DomainError } from './errors.ts';

/** Listens, or says which setting asked for an address that cannot be had. */
export async function listening<Result>(setting: string, host: string, port: number, listen: () => Promise<Result>) {
  try {
    return await listen();
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    const problem = `cannot listen on ${host}:${port} (${code})`;
    throw new DomainError('SETTING_INVALID', { values: { setting, problem }, cause });
  }
}

export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);
