// Writes XLSX files for tests: a ZIP archive with the parts that a workbook needs.
import { deflateRawSync } from 'node:zlib';

const relationships = (target: string) =>
  `<Relationships><Relationship Id="rId1" Target="${target}"/></Relationships>`;

export interface XlsxParts {
  /** The rows of the sheet, as XML. */
  rows: string;
  sharedStrings?: string;
  styles?: string;
  workbookPr?: string;
}

export function uploadedSheet({ rows, sharedStrings, styles, workbookPr = '' }: XlsxParts): Buffer {
  return zipFile({
    'xl/workbook.xml': `<workbook>${workbookPr}<sheets><sheet name="S" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships('worksheets/first.xml'),
    ...(sharedStrings === undefined ? {} : { 'xl/sharedStrings.xml': sharedStrings }),
    ...(styles === undefined ? {} : { 'xl/styles.xml': styles }),
    'xl/worksheets/first.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  });
}

/** An archive with these texts, or with bytes that are deflated already. */
export function zipFile(parts: Record<string, string | { deflated: Buffer }>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of Object.entries(parts)) {
    const name = Buffer.from(path);
    const data = typeof content === 'string' ? deflateRawSync(content) : content.deflated;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, name, data);
    entries.push(entry, name);
    offset += local.length + name.length + data.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(parts).length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}
