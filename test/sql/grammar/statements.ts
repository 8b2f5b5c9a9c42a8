/**
 * Test statements for the T-SQL grammar, in three lists: valid SELECTs of the kinds that the facade renders, texts with
 * a syntax error, and valid statements that are not one SELECT. Each is [what it shows, statement].
 */

type Sample = readonly [shows: string, sql: string];

export const GOOD: readonly Sample[] = [
  ['a read by key', `SELECT TOP (@n) p.[PAT_ID] FROM [dbo].[PATMAST] AS p WHERE p.[PAT_ID] = @p1`],
  ['a closing semicolon', `SELECT TOP (1) p.[PAT_ID] FROM [dbo].[PATMAST] AS p;`],
  [
    'a literal TOP and DISTINCT',
    `SELECT DISTINCT TOP (51) p.[PAT_ID], p.[LST_UPD] FROM [PATMAST] AS p ORDER BY p.[PAT_ID] ASC`,
  ],
  [
    'names with blanks, dots and closing brackets',
    `SELECT [t 1].[a.b], [t 1].[c]]d], [t 1].[SELECT] FROM [legacy db].[dbo].[ORDER DTL] AS [t 1]`,
  ],
  [
    'keyset paging with the leading bound repeated',
    `SELECT TOP (@n) o.[ORD_DT], o.[ORD_NO] FROM [ORDMAST] o
     WHERE o.[ORD_DT] >= @k1 AND (o.[ORD_DT] > @k1 OR (o.[ORD_DT] = @k1 AND o.[ORD_NO] > @k2))
     ORDER BY o.[ORD_DT] ASC, o.[ORD_NO] DESC`,
  ],
  [
    'left and inner joins on several columns',
    `SELECT TOP (11) a.[X], b.[Y], c.[Z] FROM [A] AS a
     INNER JOIN [B] AS b ON b.[ID] = a.[ID] AND b.[SEQ] = a.[SEQ]
     LEFT JOIN [C] AS c ON c.[ID] = b.[ID] AND c.[TYP] = N'X' AND c.[DEL] IS NULL
     WHERE a.[DEL] <> 'Y'`,
  ],
  [
    'LEFT OUTER JOIN and a plain JOIN',
    `SELECT a.[X] FROM [A] AS a JOIN [B] AS b ON (b.[ID] = a.[ID]) LEFT OUTER JOIN [C] AS c ON c.[ID] = a.[ID]`,
  ],
  [
    'the first row of several by OUTER APPLY',
    `SELECT TOP (@n) p.[ID], ph.[NUM] FROM [PATMAST] AS p
     OUTER APPLY (SELECT TOP (1) x.[NUM], x.[KIND] FROM [PATPHONE] AS x WHERE x.[PAT_ID] = p.[ID]
       ORDER BY CASE WHEN x.[KIND] = 'H' THEN 0 ELSE 1 END, x.[SEQ]) AS ph
     WHERE ph.[NUM] IS NOT NULL`,
  ],
  ['EXISTS', `SELECT p.[ID] FROM [P] AS p WHERE EXISTS (SELECT 1 FROM [Q] AS q WHERE q.[PID] = p.[ID] AND q.[C] = @c)`],
  [
    'NOT EXISTS with a join inside',
    `SELECT p.[ID] FROM [P] AS p WHERE NOT EXISTS (SELECT 1 FROM [Q] q LEFT JOIN [R] r ON r.[K] = q.[K] WHERE q.[PID] = p.[ID] AND (r.[K] IS NULL OR r.[V] = @v)) AND p.[A] = 1`,
  ],
  [
    'a flag by CASE WHEN',
    `SELECT CASE WHEN (p.[DEL] = 'Y' OR p.[STS] IN ('X', 'Z')) THEN 1 ELSE 0 END AS f FROM [P] AS p`,
  ],
  [
    'a simple CASE in a CASE',
    `SELECT CASE p.[S] WHEN 'M' THEN N'male' WHEN 'F' THEN CASE WHEN p.[N] > 0 THEN N'female' END ELSE NULL END FROM [P] p`,
  ],
  [
    'EXISTS in a CASE',
    `SELECT CASE WHEN EXISTS (SELECT 1 FROM [Q] AS q WHERE q.[ID] = p.[ID]) THEN 1 ELSE 0 END FROM [P] AS p`,
  ],
  [
    'an exact comparison by collation',
    `SELECT p.[A] FROM [P] AS p WHERE p.[MRN] = @p1 AND p.[MRN] COLLATE Latin1_General_BIN2 = @p1`,
  ],
  [
    'a folding collation around LIKE',
    `SELECT p.[A] FROM [P] AS p WHERE p.[NAM] COLLATE Latin1_General_100_CI_AI LIKE @p1 ESCAPE N'!'`,
  ],
  [
    'TRY_CAST to a decimal',
    `SELECT p.[A] FROM [P] AS p WHERE TRY_CAST(p.[VAL] AS decimal(28, 10)) BETWEEN @lo AND @hi`,
  ],
  [
    'TRY_CONVERT with a style',
    `SELECT TRY_CONVERT(datetime2(3), p.[DT], 112) FROM [P] AS p WHERE TRY_CONVERT(date, p.[DT]) IS NOT NULL`,
  ],
  [
    'CONVERT to text with a style',
    `SELECT CONVERT(nvarchar(23), p.[DT], 121), CONVERT(varchar(36), p.[UID]), CONVERT(varbinary(8), p.[RV]) FROM [P] AS p`,
  ],
  [
    'CAST to nvarchar(max) and others',
    `SELECT CAST(p.[T] AS nvarchar(max)), CAST(p.[N] AS int), CAST(p.[D] AS datetime2(7)), CAST(p.[B] AS varbinary(max)) FROM [P] p`,
  ],
  [
    'pieces by STRING_SPLIT in EXISTS',
    `SELECT p.[A] FROM [P] AS p WHERE p.[LST] LIKE @like ESCAPE N'\\' AND EXISTS (SELECT 1 FROM STRING_SPLIT(p.[LST], N';') AS s WHERE LTRIM(RTRIM(s.[value])) = @v)`,
  ],
  [
    'pieces by CROSS APPLY with their order',
    `SELECT TOP (100) p.[A], s.[value], s.[ordinal] FROM [P] AS p CROSS APPLY STRING_SPLIT(p.[LST], ',', 1) AS s`,
  ],
  [
    'a computed value by CROSS APPLY',
    `SELECT v.[x] FROM [P] AS p CROSS APPLY (SELECT RTRIM(p.[A]) + N' ' + RTRIM(p.[B]) AS [x]) AS v WHERE v.[x] <> N''`,
  ],
  [
    'LIKE with a class and a pattern of its own',
    `SELECT p.[A] FROM [P] p WHERE p.[V] LIKE '%[0-9]' AND p.[V] NOT LIKE '%[^-0-9.]%' AND p.[V] NOT LIKE '%.%.%'`,
  ],
  [
    'TRIM of given characters',
    `SELECT TRIM(NCHAR(9) + NCHAR(10) + NCHAR(13) + N' ' FROM p.[NAM]) FROM [P] AS p WHERE TRIM(p.[NAM]) <> ''`,
  ],
  [
    'a chain of REPLACE',
    `SELECT REPLACE(REPLACE(REPLACE(UPPER(p.[PH]), '(', ''), ')', ''), N'-', N'') FROM [P] AS p WHERE REPLACE(p.[PH], '-', '') = @p1`,
  ],
  [
    'the last word by REVERSE and CHARINDEX',
    `SELECT RIGHT(p.[N], CHARINDEX(N' ', REVERSE(p.[N])) - 1), LEFT(p.[N], LEN(p.[N]) - 1), SUBSTRING(p.[N], 1, 3) FROM [P] AS p WHERE CHARINDEX(N' ', p.[N]) > 0`,
  ],
  [
    'IN and NOT IN lists',
    `SELECT p.[A] FROM [P] p WHERE p.[C] IN (@p1, @p2, @p3) AND p.[D] NOT IN ('A', N'B') AND p.[E] IN (SELECT q.[E] FROM [Q] AS q)`,
  ],
  [
    'nested OR groups',
    `SELECT p.[A] FROM [P] p WHERE (p.[A] = @p1 OR (p.[B] = @p2 AND (p.[C] IS NULL OR p.[C] <> @p3)) OR p.[D] < @p4) AND NOT (p.[E] >= @p5)`,
  ],
  [
    'UNION ALL with an order of the whole',
    `SELECT a.[ID] AS [id], 1 AS [u] FROM [A] AS a UNION ALL SELECT b.[ID], 2 FROM [B] AS b WHERE b.[X] = @x ORDER BY [id]`,
  ],
  [
    'a table of values',
    `SELECT v.[c], v.[d] FROM (VALUES (N'a', 1), (N'b', 2), (@p1, NULL)) AS v([c], [d]) LEFT JOIN [P] AS p ON p.[C] = v.[c]`,
  ],
  [
    'a table of values in APPLY',
    `SELECT p.[ID], u.[k] FROM [P] AS p CROSS APPLY (VALUES (1, p.[A]), (2, p.[B])) AS u([k], [v]) WHERE u.[v] IS NOT NULL`,
  ],
  ['a table by APPLY OPENJSON', `SELECT j.[value] FROM [P] AS p CROSS APPLY OPENJSON(p.[J]) AS j`],
  ['functions by schema', `SELECT [dbo].[FN_AGE](p.[DOB]), dbo.fn_age(p.[DOB], @d) FROM [P] AS p`],
  ['a count', `SELECT COUNT(*) FROM [P] AS p WHERE p.[DEL] = 'N'`],
  [
    'a bounded count in a derived table',
    `SELECT COUNT_BIG(*) AS [n] FROM (SELECT TOP (@n) 1 AS [one] FROM [P] AS p WHERE p.[A] = @a) AS q`,
  ],
  [
    'sums of flags',
    `SELECT SUM(CASE WHEN p.[A] = 1 THEN 1 ELSE 0 END), MIN(p.[D]), COUNT(DISTINCT p.[B]) FROM [P] AS p GROUP BY p.[C] HAVING COUNT(*) > 1`,
  ],
  [
    'ORDER BY a CASE and a literal position',
    `SELECT TOP (@n) p.[A], p.[B] FROM [P] AS p ORDER BY CASE WHEN p.[A] IS NULL THEN 1 ELSE 0 END, p.[A] DESC, 2`,
  ],
  [
    'a scalar select among the columns',
    `SELECT p.[ID], (SELECT TOP (1) q.[V] FROM [Q] AS q WHERE q.[ID] = p.[ID] ORDER BY q.[SEQ]) AS [v] FROM [P] AS p`,
  ],
  [
    'text put together',
    `SELECT CONCAT(p.[A], N'|', p.[B]), p.[A] + N'''' + p.[B], COALESCE(p.[C], N''), NULLIF(RTRIM(p.[D]), ''), ISNULL(p.[E], 0) FROM [P] AS p`,
  ],
  [
    'arithmetic and parts of a date',
    `SELECT YEAR(p.[D]) * 10000 + MONTH(p.[D]) * 100 + DAY(p.[D]), -p.[N], p.[N] % 2, DATEADD(minute, p.[T] % 100, p.[D]) FROM [P] p WHERE DATEDIFF(day, p.[D], @d) < 30`,
  ],
  [
    'time zones',
    `SELECT CONVERT(nvarchar(33), p.[D] AT TIME ZONE 'Eastern Standard Time' AT TIME ZONE 'UTC', 127) FROM [P] AS p`,
  ],
  [
    'binary literals and lengths',
    `SELECT DATALENGTH(p.[B]), SUBSTRING(p.[B], 1, 100) FROM [P] AS p WHERE p.[RV] > 0x00000000000007D1 AND ASCII(p.[C]) <> 0`,
  ],
  ['OFFSET and FETCH', `SELECT p.[A] FROM [P] AS p ORDER BY p.[A] OFFSET @skip ROWS FETCH NEXT @n ROWS ONLY`],
  [
    'a window function',
    `SELECT q.[A] FROM (SELECT p.[A], ROW_NUMBER() OVER (PARTITION BY p.[B] ORDER BY p.[C] DESC) AS [rn] FROM [P] AS p) AS q WHERE q.[rn] = 1`,
  ],
  [
    'a common table expression',
    `WITH [page] AS (SELECT TOP (50) p.[ID] FROM [P] AS p ORDER BY p.[ID]) SELECT c.[V] FROM [C] AS c INNER JOIN [page] ON [page].[ID] = c.[PID]`,
  ],
  [
    'a query hint and a table hint',
    `SELECT p.[A] FROM [P] AS p WITH (INDEX([IX_P_A])) WHERE p.[A] = @a OPTION (RECOMPILE, MAXDOP 1)`,
  ],
  [
    'lower case and comments',
    `select top (1) p.id /* key */ from dbo.patmast as p -- all\nwhere p.id is not null and p.nam like @x`,
  ],
  [
    'letters outside ASCII and double quotes',
    `SELECT p."ÄND_DAT", p.[Größe] FROM [Übersicht] AS p WHERE p.[Straße] = N'Öl 😀'`,
  ],
];

export const BAD: readonly Sample[] = [
  ['a column name after an alias', `SELECT p.[A] [B] [C] FROM [P] AS p`],
  ['no comma between qualified columns', `SELECT p.[A] p.[B] FROM [P] AS p`],
  ['no comma in an IN list', `SELECT p.[A] FROM [P] AS p WHERE p.[A] IN (@p1 @p2)`],
  ['no comma between arguments', `SELECT REPLACE(p.[A], '-' '') FROM [P] AS p`],
  ['no comma in ORDER BY', `SELECT p.[A] FROM [P] AS p ORDER BY p.[A] ASC p.[B] ASC`],
  ['a comma before FROM', `SELECT p.[A], FROM [P] AS p`],
  ['a comma before WHERE', `SELECT p.[A] FROM [P] AS p, WHERE p.[A] = 1`],
  ['no columns', `SELECT FROM [P] AS p`],
  ['a parenthesis never closed', `SELECT p.[A] FROM [P] AS p WHERE (p.[A] = 1 OR (p.[B] = 2)`],
  ['a parenthesis never opened', `SELECT p.[A] FROM [P] AS p WHERE p.[A] = 1) OR p.[B] = 2`],
  ['a function never closed', `SELECT RTRIM(p.[A] FROM [P] AS p`],
  ['a bracket never closed', `SELECT p.[A] FROM [P AS p`],
  ['a string never closed', `SELECT p.[A] FROM [P] AS p WHERE p.[A] = 'x`],
  ['a comment never closed', `SELECT p.[A] FROM [P] AS p /* WHERE p.[A] = 1`],
  ['WHERE before FROM', `SELECT p.[A] WHERE p.[A] = 1 FROM [P] AS p`],
  ['ORDER BY before WHERE', `SELECT p.[A] FROM [P] AS p ORDER BY p.[A] WHERE p.[A] = 1`],
  ['WHERE before JOIN', `SELECT p.[A] FROM [P] AS p WHERE p.[A] = 1 LEFT JOIN [Q] AS q ON q.[A] = p.[A]`],
  ['TOP after the columns', `SELECT p.[A] TOP (1) FROM [P] AS p`],
  ['DISTINCT after TOP', `SELECT TOP (1) DISTINCT p.[A] FROM [P] AS p`],
  ['TOP with a bare parameter', `SELECT TOP @n p.[A] FROM [P] AS p`],
  ['LIMIT', `SELECT p.[A] FROM [P] AS p LIMIT 10`],
  ['LIMIT after ORDER BY', `SELECT p.[A] FROM [P] AS p ORDER BY p.[A] LIMIT @n`],
  ['LIMIT after a bare table', `SELECT [A] FROM [P] LIMIT 10`],
  ['OFFSET without ORDER BY', `SELECT p.[A] FROM [P] AS p WHERE p.[A] = 1 OFFSET 10 ROWS`],
  ['FROM twice', `SELECT p.[A] FROM FROM [P] AS p`],
  ['two FROM clauses', `SELECT p.[A] FROM [P] AS p FROM [Q] AS q`],
  ['WHERE twice', `SELECT p.[A] FROM [P] AS p WHERE p.[A] = 1 WHERE p.[B] = 2`],
  ['concatenation by two bars', `SELECT p.[A] || p.[B] FROM [P] AS p`],
  ['a trailing AND', `SELECT p.[A] FROM [P] AS p WHERE p.[A] = 1 AND`],
  ['a leading OR', `SELECT p.[A] FROM [P] AS p WHERE OR p.[A] = 1`],
  ['an AND before ORDER BY', `SELECT p.[A] FROM [P] AS p WHERE p.[A] = 1 AND ORDER BY p.[A]`],
  ['WHERE with nothing', `SELECT p.[A] FROM [P] AS p WHERE`],
  ['two conditions side by side', `SELECT p.[A] FROM [P] AS p WHERE p.[A] = 1 p.[B] = 2`],
  ['a column as a condition', `SELECT p.[A] FROM [P] AS p WHERE p.[FLG]`],
  ['a condition as a column', `SELECT p.[A] = 1 AND p.[B] = 2 FROM [P] AS p`],
  ['a condition in parentheses as a column', `SELECT (p.[A] = 1) AS [f] FROM [P] AS p`],
  ['EXISTS as a column', `SELECT EXISTS (SELECT 1 FROM [Q] AS q) FROM [P] AS p`],
  ['EXISTS without parentheses', `SELECT p.[A] FROM [P] AS p WHERE EXISTS SELECT 1 FROM [Q] AS q`],
  ['an empty IN list', `SELECT p.[A] FROM [P] AS p WHERE p.[A] IN ()`],
  ['a double equals sign', `SELECT p.[A] FROM [P] AS p WHERE p.[A] == 1`],
  ['BETWEEN with one bound', `SELECT p.[A] FROM [P] AS p WHERE p.[A] BETWEEN 1 ORDER BY p.[A]`],
  ['ESCAPE with nothing', `SELECT p.[A] FROM [P] AS p WHERE p.[A] LIKE @p1 ESCAPE`],
  ['CASE without END', `SELECT CASE WHEN p.[A] = 1 THEN 1 ELSE 0 FROM [P] AS p`],
  ['CASE without THEN', `SELECT CASE WHEN p.[A] = 1 ELSE 0 END FROM [P] AS p`],
  ['CASE WHEN a column', `SELECT CASE WHEN p.[A] THEN 1 END FROM [P] AS p`],
  ['a left join without ON', `SELECT p.[A] FROM [P] AS p LEFT JOIN [Q] AS q WHERE p.[A] = 1`],
  ['an inner join by USING', `SELECT p.[A] FROM [P] AS p INNER JOIN [Q] AS q USING ([A])`],
  [
    'APPLY with ON',
    `SELECT p.[A] FROM [P] AS p OUTER APPLY (SELECT TOP (1) q.[B] FROM [Q] AS q) AS x ON x.[B] = p.[B]`,
  ],
  ['a derived table without a name', `SELECT [A] FROM (SELECT p.[A] FROM [P] AS p) WHERE [A] = 1`],
  ['UNION ALL with nothing', `SELECT p.[A] FROM [P] AS p UNION ALL`],
  [
    'ORDER BY inside a branch of a union',
    `SELECT p.[A] FROM [P] AS p ORDER BY p.[A] UNION ALL SELECT q.[A] FROM [Q] AS q`,
  ],
  ['CAST with a comma', `SELECT CAST(p.[A], int) FROM [P] AS p`],
  ['CAST to nothing', `SELECT TRY_CAST(p.[A] AS) FROM [P] AS p`],
  ['a cast by two colons', `SELECT p.[A]::int FROM [P] AS p`],
  ['a question mark for a parameter', `SELECT p.[A] FROM [P] AS p WHERE p.[A] = ?`],
  ['a colon for a parameter', `SELECT p.[A] FROM [P] AS p WHERE p.[A] = :p1`],
  ['names in backticks', 'SELECT `A` FROM `P`'],
  ['GLOB', `SELECT p.[A] FROM [P] AS p WHERE p.[A] GLOB 'x*'`],
  ['NULLS LAST', `SELECT p.[A] FROM [P] AS p ORDER BY p.[A] NULLS LAST`],
  ['IS NOT with a text', `SELECT p.[A] FROM [P] AS p WHERE p.[A] IS NOT 'x'`],
  ['a collation with nothing', `SELECT p.[A] FROM [P] AS p WHERE p.[A] COLLATE = @p1`],
  ['a misspelt keyword', `SELEC p.[A] FROM [P] AS p`],
  ['a keyword for an alias', `SELECT p.[A] FROM [P] AS where WHERE p.[A] = 1`],
  ['a lone AS', `SELECT p.[A] AS FROM [P] AS p`],
  ['a name that ends in a dot', `SELECT p. FROM [P] AS p`],
  ['two operators', `SELECT p.[A] FROM [P] AS p WHERE p.[A] = = 1`],
  ['a number as a condition', `SELECT p.[A] FROM [P] AS p WHERE 1`],
  ['a column in parentheses as a condition', `SELECT p.[A] FROM [P] AS p WHERE p.[A] = 1 AND (p.[B])`],
  ['empty parentheses as a condition', `SELECT p.[A] FROM [P] AS p WHERE ()`],
  ['EXISTS of nothing', `SELECT p.[A] FROM [P] AS p WHERE EXISTS ()`],
  ['a select as a condition', `SELECT p.[A] FROM [P] AS p WHERE (SELECT 1)`],
  ['two commas', `SELECT p.[A],, p.[B] FROM [P] AS p`],
  ['two names for a table', `SELECT p.[A] FROM [P] AS p q`],
  ['a join without its ON condition', `SELECT p.[A] FROM [P] AS p INNER JOIN [Q] AS q ON WHERE p.[A] = 1`],
  ['empty TOP', `SELECT TOP () p.[A] FROM [P] AS p`],
  ['CASE of nothing', `SELECT CASE END FROM [P] AS p`],
  ['two texts side by side', `SELECT REPLACE(p.[A], 'a' 'b', 'c') FROM [P] AS p`],
  ['SUBSTRING with two arguments', `SELECT SUBSTRING(p.[A], 1) FROM [P] AS p`],
  ['REPLACE with two arguments', `SELECT REPLACE(p.[A], '-') FROM [P] AS p`],
  ['an ordered derived table without TOP', `SELECT q.[A] FROM (SELECT p.[A] FROM [P] AS p ORDER BY p.[A]) AS q`],
  [
    'an ordered common table expression without TOP',
    `WITH q AS (SELECT p.[A] FROM [P] AS p ORDER BY p.[A]) SELECT q.[A] FROM q`,
  ],
  ['values without a name', `SELECT 1 FROM (VALUES (1), (2))`],
  ['a row of values never closed', `SELECT v.[a] FROM (VALUES (1), (2) AS v([a])`],
  ['AND in place of ON', `SELECT p.[A] FROM [P] AS p LEFT JOIN [Q] AS q AND q.[A] = p.[A]`],
  ['NOT after the column of EXISTS', `SELECT p.[A] FROM [P] AS p WHERE EXISTS NOT (SELECT 1 FROM [Q] AS q)`],
  ['IS NULL compared', `SELECT p.[A] FROM [P] AS p WHERE p.[A] IS NULL = 1`],
  ['a comma after the last value of IN', `SELECT p.[A] FROM [P] AS p WHERE p.[A] IN (@p1, @p2,)`],
  ['an empty text', ``],
];

export const NOT_ONE_SELECT: readonly Sample[] = [
  ['INSERT', `INSERT INTO [P] ([A]) VALUES (@a)`],
  ['INSERT from a SELECT', `INSERT INTO [P] ([A]) SELECT q.[A] FROM [Q] AS q`],
  ['UPDATE', `UPDATE [P] SET [A] = 1 WHERE [B] = 2`],
  ['DELETE', `DELETE FROM [P] WHERE [A] = 1`],
  ['DELETE through a common table expression', `WITH x AS (SELECT TOP (1) p.[A] FROM [P] AS p) DELETE FROM x`],
  ['MERGE', `MERGE INTO [P] AS p USING [Q] AS q ON q.[A] = p.[A] WHEN MATCHED THEN UPDATE SET p.[B] = q.[B];`],
  ['EXEC', `EXEC sp_who @p1`],
  ['EXECUTE of a text', `EXECUTE ('SELECT 1')`],
  ['a procedure by its bare name', `sp_who`],
  ['SELECT INTO', `SELECT p.[A] INTO [Q] FROM [P] AS p`],
  ['SELECT INTO in the second branch', `SELECT p.[A] FROM [P] AS p UNION ALL SELECT q.[A] INTO [R] FROM [Q] AS q`],
  ['two SELECTs', `SELECT p.[A] FROM [P] AS p; SELECT q.[A] FROM [Q] AS q`],
  ['two SELECTs without a semicolon', `SELECT p.[A] FROM [P] AS p SELECT q.[A] FROM [Q] AS q`],
  ['a DELETE after a SELECT', `SELECT p.[A] FROM [P] AS p; DELETE FROM [P]`],
  ['a DROP after a SELECT', `SELECT p.[A] FROM [P] AS p; DROP TABLE [P] --`],
  ['a batch of two', `SELECT p.[A] FROM [P] AS p\nGO\nSELECT p.[A] FROM [P] AS p`],
  ['FOR UPDATE', `SELECT p.[A] FROM [P] AS p FOR UPDATE`],
  ['FOR JSON', `SELECT p.[A] FROM [P] AS p FOR JSON PATH`],
  ['a table from a file', `SELECT f.[A] FROM OPENROWSET(BULK 'x.txt', SINGLE_CLOB) AS f`],
  ['a table from another server', `SELECT f.[A] FROM OPENQUERY([srv], 'DELETE FROM t') AS f`],
  ['rows of a DELETE', `SELECT q.[A] FROM (DELETE FROM [P] OUTPUT deleted.[A]) AS q`],
  ['the next value of a sequence', `SELECT NEXT VALUE FOR [dbo].[SEQ]`],
  ['an assignment to a variable', `SELECT @x = p.[A] FROM [P] AS p`],
  ['SET', `SET NOCOUNT ON`],
  ['DECLARE', `DECLARE @x int = 1`],
  ['DECLARE and a SELECT', `DECLARE @x int; SELECT @x`],
  ['IF', `IF 1 = 1 SELECT 1`],
  ['BEGIN and END', `BEGIN SELECT 1 END`],
  ['a transaction', `BEGIN TRANSACTION`],
  ['WAITFOR', `WAITFOR DELAY '00:00:05'`],
  ['CREATE TABLE', `CREATE TABLE [P] ([A] int)`],
  ['CREATE VIEW', `CREATE VIEW [V] AS SELECT p.[A] FROM [P] AS p`],
  ['DROP TABLE', `DROP TABLE [P]`],
  ['TRUNCATE TABLE', `TRUNCATE TABLE [P]`],
  ['GRANT', `GRANT SELECT ON [P] TO [public]`],
  ['BACKUP', `BACKUP DATABASE [legacy] TO DISK = 'x.bak'`],
  ['a lone semicolon', `;`],
];
