/** Hook for Ctrl+S and Cmd+S, wherever the focus is. */
import { useEffect, useRef } from 'preact/hooks';

/**
 * Calls `save` when the key is pressed. The handler of a view (`isOfView`) runs before that of the page, which then
 * does nothing.
 */
export function useSaveKey(save: () => void, isOfView = false): void {
  const latest = useRef(save);
  latest.current = save;
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, shiftKey, defaultPrevented } = event;
      if (defaultPrevented || !(ctrlKey || metaKey) || altKey || shiftKey || key.toLowerCase() !== 's') return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', pressed, isOfView);
    return () => removeEventListener('keydown', pressed, isOfView);
  }, []);
}
