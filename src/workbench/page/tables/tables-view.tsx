/** The view of the database: its tables, and one of them with its columns and the profile of their rows. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { WireSizes, WireTables } from '../../wire/tables.ts';
import { useAnswer } from '../answer.ts';
import { ask } from '../ask.ts';
import type { Bench } from '../bench.ts';
import './tables.css';
import { matching, type Wanted } from './matching.ts';
import { TableDetail } from './table-detail.tsx';
import { TableList } from './table-list.tsx';

const FIRST: Wanted = { text: '', show: 'all', by: 'name', descending: false };

/** State for the return from another view. */
let left: { readonly wanted: Wanted; readonly chosen: string | undefined } = { wanted: FIRST, chosen: undefined };

const NO_SIZES: WireSizes['sizes'] = {};

export function TablesView({ bench }: { readonly bench: Bench }) {
  const [wanted, setWanted] = useState(left.wanted);
  const [chosen, setChosen] = useState(left.chosen);
  /** How often the schema was read again. */
  const [read, setRead] = useState(0);
  const { check, unsaved } = bench;
  left = { wanted, chosen };

  // Each check may change which tables are mapped.
  const { is: list, failed } = useAnswer<WireTables>('tables', { unsaved, again: false }, [check, read]);
  const sized = useAnswer<WireSizes>('tables/sizes', {}, [read]);
  const sizes = sized.is?.sizes ?? NO_SIZES;
  useEffect(() => {
    if (sized.failed !== undefined) bench.announce(sized.failed);
  }, [sized]);

  const again = async (): Promise<void> => {
    try {
      await ask<WireTables>('tables', { unsaved, again: true });
      bench.announce('The schema was read again');
      setRead(read + 1);
    } catch (error) {
      bench.announce(error instanceof Error ? error.message : 'The schema was not read');
    }
  };
  const names = useMemo(() => new Map((list?.tables ?? []).map(({ id, name }) => [id, name])), [list]);
  const listed = useMemo(() => matching(list?.tables ?? [], sizes, wanted), [list, sizes, wanted]);
  return (
    <main class="tables">
      <section class="table-list" aria-label="Tables" aria-busy={list === undefined}>
        {failed !== undefined && <p role="alert">{failed}</p>}
        <TableList
          listed={listed}
          all={list?.tables.length}
          wanted={wanted}
          setWanted={setWanted}
          chosen={chosen}
          choose={setChosen}
          again={() => void again()}
        />
      </section>
      {chosen === undefined || (list && !names.has(chosen)) ? (
        <section class="table-detail" aria-label="Table">
          <p class="quiet">Choose a table to see its keys, its columns, and values in a sample of its rows.</p>
        </section>
      ) : (
        <TableDetail key={`${chosen} ${read}`} id={chosen} names={names} choose={setChosen} bench={bench} />
      )}
    </main>
  );
}
