/** A place in a file. */
export interface Place {
  file: string;
  line: number;
}

/** A mistake in a file, for people. */
export interface FileFault extends Place {
  /** The path of the field, as `endpoints[0].url`; empty for the whole file. */
  field: string;
  text: string;
}

export const faultText = ({ file, line, field, text }: FileFault): string =>
  `${file}:${line}: ${field === '' ? '' : `${field}: `}${text}`;
