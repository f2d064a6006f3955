interface ReasonFieldProps {
  readonly required: boolean
  readonly rows: number
  readonly value: string
  readonly onChange: (reason: string) => void
}

/** Why something is done to a run; the service keeps so many characters of it. */
export const ReasonField = ({ onChange, required, rows, value }: ReasonFieldProps) => (
  <label className="block">
    <span className="label">Reason{required ? "" : " (may be empty)"}</span>
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
