interface Fault {
  loc: string[];
  msg: string;
}

/** An error body in words: what happened, and each faulty field with what is wrong with it; null when it says nothing. */
export function wordsOf(body: unknown): string | null {
  const {
    message,
    reason,
    details = [],
    error_description: description,
  } = (body ?? {}) as {
    message?: string;
    reason?: string;
    details?: Fault[];
    error_description?: string;
  };
  const faults = details.map(({ loc, msg }) => `${loc.slice(1).join('.') || loc[0] || 'request'}: ${msg}`);
  return [message ?? reason ?? description, ...faults].filter(Boolean).join(' ') || null;
}
