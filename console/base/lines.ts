/** Yields the lines of a response body as they arrive, without empty ones. */
export async function* linesOf(response: Response): AsyncGenerator<string> {
  if (!response.body) return;
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
    const lines = (text + piece).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield line;
  }
  if (text.trim() !== '') yield text;
}
