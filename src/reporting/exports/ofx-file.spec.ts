import { describe, expect, it } from '@jest/globals';
import { toCoding } from '../../statement/expected-payments/coding.js';
import { accountAtItau, exportedLine, marchPeriod } from '../../../test/support/exported-lines.js';
import { ofxFile } from './ofx-file.js';

const valueOf = (text: string, tag: string) => new RegExp(`<${tag}>([^\\r\\n<]*)`).exec(text)?.[1];
const endToEndId = 'E99999999202603101504abcdefghijk';
const textOf = (...lines: Parameters<typeof exportedLine>[0][]) => {
  const file = ofxFile(accountAtItau, marchPeriod);
  return [file.head(), ...lines.map((line) => file.row(exportedLine(line))), file.foot()].join('');
};

describe('an OFX file of the statement', () => {
  it('starts with the header that bookkeeping programs expect', () => {
    expect(textOf().split('\r\n').slice(0, 11)).toEqual([
      'OFXHEADER:100',
      'DATA:OFXSGML',
      'VERSION:102',
      'SECURITY:NONE',
      'ENCODING:USASCII',
      'CHARSET:1252',
      'COMPRESSION:NONE',
      'OLDFILEUID:NONE',
      'NEWFILEUID:NONE',
      '',
      '<OFX>',
    ]);
  });

  it('has one tag a line, closes each aggregate, and no leaf element', () => {
    const line = {
      endToEndId: 'E1',
      clientReference: 'order',
      notes: 'x',
      coding: toCoding({ category: 'fee' }),
    };
    const text = textOf(line, { nsu: 102n });
    const lines = text.split('\r\n').slice(10, -1);
    const open: string[] = [];
    for (const one of lines) {
      const [, slash, name, value] = /^<(\/?)([A-Z0-9]+)>([^<>]*)$/.exec(one) ?? [];
      expect([one, name]).toEqual([one, expect.any(String)]);
      if (slash) expect(open.pop()).toBe(name);
      else if (value === '') open.push(name ?? '');
    }
    expect(open).toEqual([]);
  });

  it('states the period from midnight in São Paulo, and identifies a line by its nsu', () => {
    const text = textOf({ isCredit: false, amountCents: 1_050n, endToEndId: 'E123' });
    expect(valueOf(text, 'DTSTART')).toBe('20260301000000[-3:BRT]');
    expect(valueOf(text, 'DTEND')).toBe('20260331235959[-3:BRT]');
    expect(valueOf(text, 'DTPOSTED')).toBe('20260310120405[-3:BRT]');
    expect(valueOf(text, 'TRNAMT')).toBe('-10.50');
    expect(valueOf(text, 'FITID')).toBe('101');
    expect(valueOf(text, 'REFNUM')).toBe('E123');
  });

  it('states no time after that of its creation', () => {
    const until = (generatedAt: string, from = '2026-03-01') => {
      const now = { ...marchPeriod, from, generatedAt: new Date(generatedAt) };
      const file = ofxFile(accountAtItau, now);
      const text = `${file.head()}${file.foot()}`;
      return ['DTSERVER', 'DTSTART', 'DTEND', 'DTASOF'].map((tag) => valueOf(text, tag));
    };
    const now = '20260310091500[-3:BRT]';
    expect(until('2026-03-10T12:15:00Z')).toEqual([now, '20260301000000[-3:BRT]', now, now]);
    expect(until('2026-03-10T12:15:00Z', '2026-03-20')).toEqual([now, now, now, now]);
  });

  it('names the bank, and the counterparty or else the type of each line', () => {
    const counterparty = {
      ...exportedLine().counterparty,
      name: 'Água & Luz do Município de X S.A.',
    };
    const text = textOf({ counterparty }, { typeName: 'DEBIT_FEE' });
    expect([valueOf(text, 'ORG'), valueOf(text, 'FID')]).toEqual(['Itaú Unibanco S.A.', '341']);
    expect([...text.matchAll(/<NAME>(.*)\r/g)].map(([, name]) => name)).toEqual([
      ...['Água &amp; Luz do Município de X', 'DEBIT_FEE'],
    ]);
  });

  it.each([
    ['CREDIT_PIX', true, 'XFER'],
    ['DEBIT_TRANSFER_EXTERNAL', false, 'XFER'],
    ['DEBIT_TRANSFER_INTERNAL', false, 'XFER'],
    ['DEBIT_FEE', false, 'FEE'],
    ['TARIFA PIX', false, 'FEE'],
    ['CREDIT_FEE', true, 'CREDIT'],
    ['DEBIT_BILL_PAYMENT', false, 'PAYMENT'],
    ['DEBIT_IOF', false, 'DEBIT'],
    ['CREDIT_BANKSLIP', true, 'CREDIT'],
    ['CREDIT_BILL_PAYMENT_REVERSAL', true, 'CREDIT'],
    ['DEBIT_PIX_REFUND', false, 'DEBIT'],
  ])('states the type %s, credit %s, as %s', (typeName, isCredit, type) =>
    expect(valueOf(textOf({ typeName, isCredit }), 'TRNTYPE')).toBe(type),
  );

  it.each([
    ['order-7', 'order-7', ''],
    ['6E6F2D5C-1a0b-4c3d-8e5f-000000000001', '6E6F2D5C1a0b4c3d8e5f000000000001', 'whole'],
    ['r'.repeat(33), endToEndId, 'whole'],
    ['r'.repeat(200), endToEndId, 'whole'],
    ['&'.repeat(20), endToEndId, 'whole'],
  ])(
    'refers to the client’s id %s as %s, and has what is left out in the memo',
    (id, short, memo) => {
      const text = textOf({
        clientReference: id,
        endToEndId,
        notes: 'x'.repeat(300),
        coding: toCoding({ category: 'fee' }),
      });
      const plain = (tag: string) => valueOf(text, tag)?.replaceAll('&amp;', '&') ?? '';
      expect(plain('REFNUM')).toBe(short);
      expect(plain('MEMO').includes(id)).toBe(memo === 'whole');
      expect(plain('MEMO').includes(endToEndId)).toBe(short !== endToEndId);
      expect(plain('MEMO')).toContain('(fee)');
    },
  );

  it('names no payment by half an id', () => {
    const text = textOf({ clientReference: 'r'.repeat(40), endToEndId: null });
    expect(valueOf(text, 'REFNUM')).toBeUndefined();
    expect(valueOf(text, 'MEMO')).toContain('r'.repeat(40));
  });

  it('exceeds no length of the format', () => {
    const long = 'é&<x '.repeat(100);
    const account = {
      ...{ bankCode: null, bankName: long, branch: '12345', branchDigit: 'X' },
      ...{ accountNumber: '123456789012', accountDigit: 'XY' },
    };
    const file = ofxFile({ ...accountAtItau, ...account }, marchPeriod);
    const row = exportedLine({
      ...{ nsu: 9_223_372_036_854_775_807n, typeName: long, notes: long },
      coding: toCoding({ category: long, costCentre: long }),
      ...{ clientReference: long, endToEndId: 'E'.repeat(32) },
      counterparty: { ...exportedLine().counterparty, name: long },
    });
    const text = [
      file.head(),
      file.row(row),
      file.row(exportedLine({ typeName: long })),
      file.foot(),
    ];
    const lengths: Record<string, number> = {
      ...{ ORG: 32, FID: 32, BANKID: 9, BRANCHID: 22, ACCTID: 22, ACCTTYPE: 8, TRNUID: 36 },
      ...{ FITID: 255, CHECKNUM: 12, REFNUM: 32, NAME: 32, MEMO: 255, TRNAMT: 32, BALAMT: 32 },
      ...{ CODE: 6, SEVERITY: 5, LANGUAGE: 3, CURDEF: 3, TRNTYPE: 11 },
      ...{ DTSERVER: 32, DTSTART: 32, DTEND: 32, DTPOSTED: 32, DTASOF: 32 },
    };
    for (const [, tag = '', value = ''] of text.join('').matchAll(/<([A-Z0-9]+)>([^\r<]+)\r/g))
      expect([tag, value.length <= (lengths[tag] ?? 0)]).toEqual([tag, true]);
  });

  it('has the coding in the memo, however long they are', () => {
    const coding = toCoding({ category: 'vendas', costCentre: 'loja & 7', project: 'obra' });
    const memo = valueOf(textOf({ notes: 'x', coding }), 'MEMO');
    expect(memo).toBe('CREDIT_PIX x (vendas, loja &amp; 7, obra)');
    const long = textOf({
      notes: 'x'.repeat(300),
      coding: { ...coding, category: '&'.repeat(100) },
    });
    expect(valueOf(long, 'MEMO')?.length).toBeLessThanOrEqual(255);
  });

  it('states the account at its bank, by its ISPB where the bank has no other code', () => {
    const account = (changes: object) => {
      const text = ofxFile({ ...accountAtItau, ...changes }, marchPeriod).head();
      return ['BANKID', 'BRANCHID', 'ACCTID'].map((tag) => valueOf(text, tag));
    };
    expect(account({})).toEqual(['341', '12', '34567-8']);
    expect(account({ bankCode: null, branchDigit: 'X', accountDigit: null })).toEqual([
      ...['60701190', '12-X', '34567'],
    ]);
  });

  it('uses daylight saving time where it was in force', () => {
    const text = textOf({ occurredAt: new Date('2018-12-01T12:00:00Z') });
    expect(valueOf(text, 'DTPOSTED')).toBe('20181201100000[-2:BRST]');
  });

  it('ends with the opening balance plus its lines, as of the latest line', () => {
    const text = textOf(
      { amountCents: 10n, occurredAt: new Date('2026-03-11T12:00:00Z') },
      { nsu: 102n, isCredit: false, amountCents: 22n },
    );
    expect([valueOf(text, 'BALAMT'), valueOf(text, 'DTASOF')]).toEqual([
      '-0.05',
      '20260311090000[-3:BRT]',
    ]);
    expect([valueOf(textOf(), 'BALAMT'), valueOf(textOf(), 'DTASOF')]).toEqual([
      '0.07',
      '20260331235959[-3:BRT]',
    ]);
  });

  it('has no tag, no line break and no character outside Windows-1252 in a memo', () => {
    const text = textOf({ notes: '</MEMO><STMTTRN>\r\n<TRNAMT>999 & ação “ótima” 😀 ł' });
    expect(text.match(/<STMTTRN>/g)).toHaveLength(1);
    expect(text.match(/<TRNAMT>/g)).toHaveLength(1);
    expect(/<MEMO>(.*)\r\n/.exec(text)?.[1]).toBe(
      'CREDIT_PIX &lt;/MEMO&gt;&lt;STMTTRN&gt; &lt;TRNAMT&gt;999 &amp; ação "ótima" ? ?',
    );
    expect([...text].every((character) => character <= '\u00ff')).toBe(true);
  });

  it('folds what readers take for their own signs', () => {
    const memo = valueOf(textOf({ notes: 'R$ 5^2 $& ${`x\u0007\u0085y' }), 'MEMO');
    expect(memo).toBe('CREDIT_PIX R$ 5 2 $ &amp; $ {`x y');
    // Full-width characters become the same signs.
    expect(valueOf(textOf({ notes: '5＾2 ＄&' }), 'MEMO')).toBe('CREDIT_PIX 5 2 $ &amp;');
  });

  it('cuts a memo at 255 characters without cutting an entity', () => {
    const memo = /<MEMO>(.*)\r\n/.exec(textOf({ notes: '&'.repeat(300) }))?.[1] ?? '';
    expect(memo.length).toBeLessThanOrEqual(255);
    expect(memo.endsWith('&amp;')).toBe(true);
  });
});
