import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hasMark, markedId } from './installation-mark.js';

const installation = '3f0c2a7e-5d0b-4c55-9a52-0d1f3a1c9b10';

describe('the mark of an installation', () => {
  it('is recognised in either case, and stays a uuid of its version', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        const marked = markedId(uuid, installation);
        expect(marked.slice(0, 26)).toBe(uuid.slice(0, 26));
        expect(marked).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
        expect([
          hasMark(marked, installation),
          hasMark(marked.toUpperCase(), installation),
        ]).toEqual([true, true]);
      }),
    );
  });

  it('is on no id of another installation, and on no other text', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), fc.string(), (uuid, other, text) => {
        expect(hasMark(markedId(uuid, other), installation)).toBe(other === installation);
        expect(hasMark(uuid, installation)).toBe(false);
        expect(hasMark(text, installation)).toBe(false);
      }),
    );
  });
});
