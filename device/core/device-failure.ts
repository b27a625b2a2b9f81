/**
 * Why a command failed, or a request has no data. `code` is one of those in schemas/mqtt/ack.json, or one of the maker's
 * own, with at most 64 characters; of `message`, the service gets 1,000.
 */
export class DeviceFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DeviceFailure';
    this.code = code;
  }
}

/** The failure of an operation that threw: its code, or `INTERNAL`. */
export function failureOf(error: unknown): { code: string; message: string } {
  if (error instanceof DeviceFailure) return { code: error.code, message: error.message };
  return { code: 'INTERNAL', message: error instanceof Error ? error.message : String(error) };
}
