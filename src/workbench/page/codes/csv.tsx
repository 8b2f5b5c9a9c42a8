/** CSV files: a button that reads one from the disk, and a function that downloads one. */

interface Parts {
  readonly label: string;
  readonly disabled?: boolean;
  /** Called with the file name and the content in base64. */
  readonly take: (name: string, base64: string) => Promise<void>;
  readonly failed: (error: Error) => void;
}

export function CsvButton({ label, disabled = false, take, failed }: Parts) {
  return (
    <label class={disabled ? 'button shut' : 'button'}>
      {label}
      <input
        type="file"
        accept=".csv,.txt,.tsv,text/csv"
        class="unseen"
        disabled={disabled}
        onChange={event => {
          const [file] = event.currentTarget.files ?? [];
          if (file)
            base64Of(file)
              .then(base64 => take(file.name, base64))
              .catch(failed);
          event.currentTarget.value = '';
        }}
      />
    </label>
  );
}

/** Downloads a text. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
}
