// What stands in a ZIP file and in a PDF file, for tests of the bundle of a month.
import { inflateSync } from 'node:zlib';
import yauzl from 'yauzl';

/** The entries in their order. */
export async function entriesOf(zip: Buffer): Promise<Map<string, Buffer>> {
  const entries = new Map<string, Buffer>();
  const file = await yauzl.fromBufferPromise(zip);
  for await (const entry of file.eachEntry()) {
    const chunks: Buffer[] = [];
    for await (const chunk of await file.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    entries.set(entry.fileName, Buffer.concat(chunks));
  }
  return entries;
}

/** The text that a PDF file shows, whose fonts map its glyphs to characters. */
export function textOfPdf(pdf: Buffer): string {
  const source = pdf.toString('latin1');
  const objectOf = (id: string) =>
    new RegExp(`(?:^|\\n)${id} 0 obj\\n([^]*?)\\nendobj`).exec(source)?.[1] ?? '';
  const streamOf = (object: string) => {
    const data = /stream\n([^]*)\nendstream/.exec(object)?.[1] ?? '';
    const bytes = Buffer.from(data, 'latin1');
    return (object.includes('/FlateDecode') ? inflateSync(bytes) : bytes).toString('latin1');
  };
  const glyphsOf = (font: string) => {
    const map = streamOf(objectOf(/\/ToUnicode (\d+)/.exec(objectOf(font))?.[1] ?? ''));
    const ranges = [...map.matchAll(/<([0-9a-f]+)> <[0-9a-f]+> \[([^\]]*)\]/gi)];
    return new Map(
      ranges.flatMap(([, first = '0', texts = '']) =>
        [...texts.matchAll(/<([0-9a-f ]*)>/gi)].map(
          ([, text = ''], index) =>
            [
              Number.parseInt(first, 16) + index,
              characters(text.replaceAll(' ', '')).join(''),
            ] as const,
        ),
      ),
    );
  };
  const pages = [...source.matchAll(/\/Contents (\d+) 0 R\n\/Resources (\d+) 0 R/g)];
  return pages
    .map(([, contents = '', resources = '']) => {
      const fonts = new Map(
        [...objectOf(resources).matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name, id = '']) => [
          name,
          glyphsOf(id),
        ]),
      );
      let glyphs = new Map<number, string>();
      let text = '';
      for (const [, font, shown] of streamOf(objectOf(contents)).matchAll(
        /\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ/g,
      )) {
        if (font !== undefined) glyphs = fonts.get(font) ?? new Map();
        else
          text += [...(shown ?? '').matchAll(/<([0-9a-f]*)>/gi)]
            .flatMap(([, codes = '']) => codes.match(/.{4}/g) ?? [])
            .map((code) => glyphs.get(Number.parseInt(code, 16)) ?? '\u{FFFD}')
            .join('');
      }
      return text;
    })
    .join('\n');
}

/** A ligature is of several characters. */
const characters = (hex: string) =>
  (hex.match(/.{4}/g) ?? []).map((code) => String.fromCharCode(Number.parseInt(code, 16)));
