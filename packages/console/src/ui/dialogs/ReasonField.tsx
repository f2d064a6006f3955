interface ReasonFieldProps {
  readonly required: boolean
  readonly rows: number
  readonly value: string
  readonly onChange: (reason: string) => void
}

/** The reason of an action on a run; the length is the service's limit. */
export const ReasonField = ({ onChange, required, rows, value }: ReasonFieldProps) => (
  <label className="block">
    <span className="label">Reason{required ? "" : " (optional)"}</span>
    <textarea
      autoFocus
      rows={rows}
      maxLength={2_000}
      className="field mt-1 w-full"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
)
