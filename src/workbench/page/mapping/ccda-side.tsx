/**
 * Shows what the row of the preview contributes to C-CDA documents. In: a mapping and a key. Out: each section as a
 * table and as XML, with the list of ccds.yaml that finds it; or the reason if there is none.
 */
import type { WireCcda, WireCcdaSection } from '../../wire/mapping.ts';
import { useAnswer } from '../answer.ts';
import type { Bench } from '../bench.ts';

interface Parts {
  readonly previewed: { readonly mapping: string; readonly key: readonly string[] };
  readonly bench: Bench;
}

export function CcdaSide({ previewed, bench }: Parts) {
  const { check, unsaved } = bench;
  const { is: part, failed } = useAnswer<WireCcda>('ccda', { unsaved, ...previewed }, [previewed, check]);
  return (
    <section class="ccda" aria-label="C-CDA" aria-busy={part === undefined && failed === undefined}>
      {failed !== undefined && <p role="alert">{failed}</p>}
      {part?.notes.map(note => (
        <p key={note}>{note}</p>
      ))}
      {part?.header !== undefined && (
        <>
          <h2>Header of each document</h2>
          <Xml text={part.header} />
        </>
      )}
      {part?.sections.map(section => (
        <SectionShown key={`${section.code}${section.topics.join()}`} section={section} bench={bench} />
      ))}
    </section>
  );
}

function SectionShown({ section, bench }: { readonly section: WireCcdaSection; readonly bench: Bench }) {
  const { title, code, lists, topics, columns, rows, xml } = section;
  return (
    <>
      <h2>
        {title} <span class="quiet">LOINC {code}</span>
      </h2>
      <p class="quiet">
        {lists.length > 0 && (
          <>
            By{' '}
            {lists.map((list, i) => (
              <span key={list}>
                {i > 0 && ', '}
                <ListButton list={list} bench={bench} />
              </span>
            ))}{' '}
            of ccds.yaml.{' '}
          </>
        )}
        In {topics.join(', ')}.
      </p>
      <table aria-label={title}>
        <thead>
          <tr>
            {columns.map(column => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, i) => (
            <tr key={i}>
              {columns.map((column, j) => (
                <td key={column}>{cells[j]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Xml text={xml} />
    </>
  );
}

/** Links to the search of a list, if the file is shown. */
function ListButton({ list, bench }: { readonly list: string; readonly bench: Bench }) {
  const file = bench.files.find(({ path }) => path === 'ccds.yaml');
  const line = file?.text.split('\n').findIndex(one => one.trimStart().startsWith(`${list}:`)) ?? -1;
  if (!file || line < 0) return <code>{list}</code>;
  return (
    <button type="button" class="place" onClick={() => bench.goTo({ file: file.path, line: line + 1, column: 1 })}>
      {list}
    </button>
  );
}

function Xml({ text }: { readonly text: string }) {
  return (
    <details>
      <summary>XML</summary>
      <pre>{text}</pre>
    </details>
  );
}
