/** The result of a check of the audit log. */
export interface Verification {
  entries: number;
  from: number;
  head: { position: number; hash: string };
  seal: { state: 'right' | 'none' | 'unknownKey' | 'wrong'; since: number | null; keyId: string | null };
  earlier: number;
  open: number;
  broken: { position: number; auditId: number | null; reason: string } | null;
}

/** The first entry that is not as it was written, in words; undefined when all are. */
export function faultOf({ broken }: Verification): string | undefined {
  if (broken === null) return undefined;
  const which = broken.auditId === null ? '' : ` (auditId ${broken.auditId})`;
  return `the entry at position ${broken.position}${which} is not as it was written: ${broken.reason}`;
}

const counted = (count: number, what: string): string => `${count} ${count === 1 ? 'entry' : 'entries'} ${what}\n`;

/** The meaning of the seal of the end, in words; a wrong one is a fault, which is told as such. */
function sealText({ state, since, keyId }: Verification['seal']): string {
  switch (state) {
    case 'right':
      return `The end is sealed with the encryption key ${keyId}, and so was each since position ${since}.\n`;
    case 'none':
      return keyId === null
        ? 'The end has no seal: a thief who can write the database can write the chain anew. With an encryption key, the next entry gets one.\n'
        : 'The last entries have no seal: they were written without the encryption key.\n';
    case 'unknownKey':
      return `The end is sealed with the encryption key ${keyId}, which is not known here: the seal was not checked.\n`;
    case 'wrong':
      return '';
  }
}

/** The result of a check, for people. */
export function verificationText(found: Verification): string {
  const { entries, from, head, seal, earlier, open } = found;
  const fault = faultOf(found);
  return [
    fault === undefined
      ? `${entries} ${entries === 1 ? 'entry is as it was' : 'entries are as they were'} written, from position ${from} on.\n`
      : '',
    earlier > 0 ? counted(earlier, 'of earlier releases: without a hash') : '',
    open > 0 ? counted(open, 'of requests that have not ended: not yet part of the chain') : '',
    head.position > 0 ? `The end of the chain, to be noted: --position ${head.position} --hash ${head.hash}\n` : '',
    head.position > 0 ? sealText(seal) : '',
  ].join('');
}
