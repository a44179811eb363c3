// Reads the XML of an XLSX file while it arrives, by namespaces and not by prefixes. A document
// type is refused, so that no entity is declared.
import { SaxesParser, type SaxesTagNS } from 'saxes';
import { damaged, type XlsxArchive } from './xlsx-archive.js';
import { pausesBetweenSlices } from '../slots.js';

/** A path is that of an element: `/worksheet/sheetData/row`. Elements of others have another. */
export interface XmlVisitor {
  open?: (path: string, attribute: (name: string) => string | undefined) => void;
  /** With the text directly before the end of the element. */
  close?: (path: string, text: string) => void;
}

/** As Excel writes, as the strict form of the standard has it, and of relationships. */
const namespaces = new Set([
  'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
  'http://purl.oclc.org/ooxml/spreadsheetml/main',
  'http://schemas.openxmlformats.org/package/2006/relationships',
  '',
]);
const relationships = /^http:.*\/officeDocument\/(?:2006\/)?relationships$/;
const maxDepth = 100;

export class XmlReader {
  private readonly parser = new SaxesParser({ xmlns: true, position: false });
  private readonly paths: string[] = [''];
  private text = '';
  private decoder: TextDecoder | null = null;
  private lastTagAt = 0;

  /** No more than `maxCharacters` stand between two tags, or in one. */
  constructor(
    visitor: XmlVisitor,
    private readonly maxCharacters: number,
  ) {
    const { parser, paths } = this;
    const refuse = (cause: unknown) => {
      throw damaged(cause);
    };
    parser.on('error', refuse);
    parser.on('doctype', refuse);
    parser.on('xmldecl', ({ encoding }) => {
      if (encoding !== undefined && !/^utf-?(?:8|16)$/i.test(encoding)) refuse(encoding);
    });
    const addText = (text: string) => {
      this.text += text;
    };
    parser.on('text', addText);
    parser.on('cdata', addText);
    parser.on('opentag', (tag) => {
      const path = namespaces.has(tag.uri) ? `${paths.at(-1)}/${tag.local}` : '?';
      if (paths.push(path) > maxDepth) refuse('too deep');
      this.passTag();
      visitor.open?.(path, (name) => attributeOf(tag, name));
    });
    parser.on('closetag', () => {
      const path = paths.pop() ?? '';
      visitor.close?.(path, this.text);
      this.passTag();
    });
  }

  /** Characters that were read. */
  get position(): number {
    return this.parser.position;
  }

  /** Throws XlsxError. */
  write(piece: Uint8Array): void {
    this.decoder ??= new TextDecoder(encodingOf(piece), { fatal: true });
    this.parser.write(this.decode(piece));
    if (this.position - this.lastTagAt > this.maxCharacters) throw damaged();
  }

  end(): void {
    this.parser.write(this.decode()).close();
  }

  private decode(piece?: Uint8Array): string {
    try {
      return this.decoder?.decode(piece, { stream: piece !== undefined }) ?? '';
    } catch (cause) {
      throw damaged(cause);
    }
  }

  private passTag(): void {
    this.text = '';
    this.lastTagAt = this.position;
  }
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** The value of an attribute; `r:id` stands for `id` of relationships, whatever the prefix. */
function attributeOf({ attributes }: SaxesTagNS, name: string): string | undefined {
  if (!name.startsWith('r:')) return attributes[name]?.value;
  return Object.values(attributes).find(
    ({ local, uri }) => local === name.slice(2) && relationships.test(uri),
  )?.value;
}

/** Reads a whole part. Throws XlsxError. */
export async function visitXml(
  archive: XlsxArchive,
  { part, maxBytes }: { part: string; maxBytes: number },
  visitor: XmlVisitor,
): Promise<void> {
  const pause = pausesBetweenSlices();
  const reader = new XmlReader(visitor, maxBytes);
  for await (const piece of archive.read(part, maxBytes)) {
    reader.write(piece);
    await pause();
  }
  reader.end();
}
