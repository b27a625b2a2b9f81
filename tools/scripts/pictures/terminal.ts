const FONT = 13;
const LINE = 19;
const CHARACTER = 7.83;
const MARGIN = 18;
const BAR = 34;
/** Seconds after which the lines without a time appear behind the line before. */
const STEP = 0.15;

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(' ', '&#160;'); // an image of a page loses other blanks

const colourOf = (line: string): string => {
  if (/^\d+\. /.test(line)) return '#7fd3d8';
  if (/^All as promised|-> webhook/.test(line)) return '#9fdc9f';
  return /^ {9,}/.test(line) ? '#9aa7b0' : '#e6edf0';
};

/**
 * A text of a terminal as an SVG, below the command that made it. Lines appear one after another, at the pace of the times
 * that they begin with; without animations all are shown.
 */
export function terminalPicture(command: string, text: string): string {
  const lines = text.replace(/\p{Cc}\[[0-9;]*m/gu, '').split('\n');
  const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * CHARACTER + 2 * MARGIN);
  const height = BAR + (lines.length + 2) * LINE + MARGIN;
  let at = 1;
  let time: number | undefined;
  const rows = lines.map((line, index) => {
    const said = /^ *(\d+\.\d+) s /.exec(line)?.[1];
    const now = said === undefined ? undefined : Number(said);
    // A step that was left out takes no time.
    at += now !== undefined && time !== undefined ? Math.min(Math.max(now - time, 0.02), 1) : STEP;
    time = now ?? time;
    const begin = at.toFixed(2);
    const y = BAR + (index + 2.6) * LINE;
    return line === ''
      ? ''
      : `<text x="${MARGIN}" y="${y}" fill="${colourOf(line)}" visibility="visible">${escaped(line)}<animate attributeName="visibility" values="hidden;visible" keyTimes="0;1" calcMode="discrete" dur="${begin}s" begin="0s"/></text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(command)}">
<rect width="${width}" height="${height}" rx="10" fill="#10181c"/>
<circle cx="20" cy="17" r="5" fill="#e0605e"/><circle cx="38" cy="17" r="5" fill="#dfb44b"/><circle cx="56" cy="17" r="5" fill="#67b26f"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="${FONT}">
<text x="${MARGIN}" y="${BAR + LINE}" fill="#e6edf0">$ ${escaped(command)}</text>
${rows.filter((row) => row !== '').join('\n')}
</g>
</svg>
`;
}
