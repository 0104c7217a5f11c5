-- BigQuery and others: individual rows are never returned
SELECT * FROM visits
=> MZ1819 individual rows

-- one column of one person
SELECT cost FROM visits WHERE person = 7
=> MZ1819 individual rows

-- one row through a subquery
SELECT t.cost FROM (SELECT cost FROM visits) t ORDER BY cost LIMIT 1
=> MZ1819 individual rows

-- a literal for each row
SELECT 1 FROM visits
=> MZ1819 individual rows

-- people one by one
SELECT person, COUNT(*) FROM visits GROUP BY person
=> MZ1832 one row per person

-- people one by one among other keys
SELECT city, person, SUM(cost) FROM visits GROUP BY city, person
=> MZ1832 one row per person

-- people one by one by DISTINCT
SELECT DISTINCT person FROM visits
=> MZ1832 one row per person

-- a public table
SELECT COUNT(*) FROM cities
=> MZ1820 only public tables

-- without a table
SELECT COUNT(*)
=> MZ1820 no dataset

-- without a table and an aggregate
SELECT 1
=> MZ1820 no dataset

-- C6, SmartNoise: a missing bound is an error and does not remove the noise
SELECT SUM(score) FROM visits
=> MZ1826 needs bounds

-- C6: AVG without bounds
SELECT AVG(score) FROM visits
=> MZ1826 --bound

-- C6: MEDIAN without bounds
SELECT MEDIAN(score) FROM visits
=> MZ1826 needs bounds

-- C6: bounds that an expression loses
SELECT SUM(age / (cost - 50)) FROM visits
=> MZ1826 needs bounds

-- C6: one side of a clamp is not enough
SELECT SUM(GREATEST(score, 0)) FROM visits
=> MZ1826 needs bounds

-- C6: sums of a person without a limit of rows have no bounds
SELECT AVG(s) FROM (SELECT who, SUM(x) AS s FROM loose GROUP BY who) t
=> MZ1826 needs bounds

-- C3: rows without a declared limit
SELECT COUNT(*) FROM loose
=> MZ1827 --max-rows-per-unit

-- C3: sums without a declared limit of rows
SELECT SUM(x) FROM loose
=> MZ1827 --max-rows-per-unit

-- C3: private groups without a declared cap
SELECT k, COUNT(DISTINCT who) FROM loose GROUP BY k
=> MZ1828 --max-groups-per-unit

-- C4: squares beyond doubles
SELECT VAR_SAMP(LEAST(GREATEST(score, -1e200), 1e200)) FROM visits
=> MZ1829 too wide

-- C1: LIMIT below the aggregate
SELECT COUNT(*) FROM (SELECT * FROM visits LIMIT 10) t
=> MZ1825 LIMIT

-- C1: OFFSET below the aggregate
SELECT COUNT(*) FROM (SELECT * FROM visits OFFSET 1) t
=> MZ1825 LIMIT

-- C1: the inner GROUP BY combines rows of several people
SELECT MAX(n) FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city) t
=> MZ1823 mixes people

-- C1: an inner aggregate over all people
SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM visits) t
=> MZ1823 mixes people

-- C1: a part of the unit is not the unit
SELECT AVG(n) FROM (SELECT house, COUNT(*) AS n FROM pairs GROUP BY house) t
=> MZ1823 mixes people

-- C1: an expression of the unit is not the unit
SELECT AVG(n) FROM (SELECT person % 10 AS p, COUNT(*) AS n FROM visits GROUP BY 1) t
=> MZ1823 mixes people

-- C1: DISTINCT across people
SELECT COUNT(*) FROM (SELECT DISTINCT city FROM visits) t
=> MZ1824 mixes people

-- C1: UNION without ALL across people
SELECT COUNT(*) FROM (SELECT city FROM visits UNION SELECT sex FROM people) t
=> MZ1824 UNION ALL

-- C1: a private table joined on something else
SELECT COUNT(*) FROM visits v JOIN people p ON v.age = p.income
=> MZ1821 not joined on the unit

-- C1: a private table joined with itself on something else
SELECT COUNT(*) FROM visits a JOIN visits b ON a.city = b.city
=> MZ1821 not joined on the unit

-- C1: a private table with a private one without a condition
SELECT COUNT(*) FROM visits, people
=> MZ1821 not joined on the unit

-- C1: an inequality of units
SELECT COUNT(*) FROM visits v JOIN people p ON v.person <= p.person
=> MZ1821 not joined on the unit

-- C1: the equality is one of two alternatives
SELECT COUNT(*) FROM visits v JOIN people p ON v.person = p.person OR v.age = 3
=> MZ1821 not joined on the unit

-- C1: the equality is of expressions
SELECT COUNT(*) FROM visits v JOIN people p ON v.person + 1 = p.person + 1
=> MZ1821 not joined on the unit

-- C1: a part of the unit
SELECT COUNT(*) FROM pairs a JOIN pairs b ON a.house = b.house
=> MZ1821 not joined on the unit

-- C1: the parts of the unit crosswise
SELECT COUNT(*) FROM pairs a JOIN pairs b ON a.house = b.member AND a.member = b.house
=> MZ1821 not joined on the unit

-- C1: units of different columns
SELECT COUNT(*) FROM visits v JOIN pairs p ON v.person = p.house
=> MZ1821 different columns

-- C1: a renamed column is not the unit
SELECT COUNT(*) FROM (SELECT age AS person FROM visits) v JOIN people p ON v.person = p.person
=> MZ1821 not joined on the unit

-- C1: the old foreign key without the customer
SELECT COUNT(*) FROM orders, lineitem WHERE l_orderkey = o_orderkey
=> MZ1821 l_custkey

-- C1: FULL JOIN
SELECT COUNT(*) FROM visits v FULL JOIN people p ON v.person = p.person
=> MZ1822 FULL JOIN

-- C1: a public table that is kept
SELECT COUNT(*) FROM cities c LEFT JOIN visits v ON v.city = c.city
=> MZ1822 no privacy unit

-- C1: a public table that is kept, from the right
SELECT COUNT(*) FROM visits v RIGHT JOIN cities c ON v.city = c.city
=> MZ1822 no privacy unit

-- C1: SEMI JOIN
SELECT COUNT(*) FROM visits v LEFT SEMI JOIN people p ON v.person = p.person
=> MZ1807 SEMI JOIN

-- C1: ANTI JOIN
SELECT COUNT(*) FROM visits v LEFT ANTI JOIN people p ON v.person = p.person
=> MZ1807 ANTI JOIN

-- C1: UNION ALL of private and public rows
SELECT COUNT(*) FROM (SELECT city FROM visits UNION ALL SELECT city FROM cities) t
=> MZ1833 privacy units

-- C1: UNION ALL of different units
SELECT COUNT(*) FROM (SELECT x FROM loose UNION ALL SELECT cost FROM visits) t
=> MZ1833 types

-- UNION ALL of different types
SELECT COUNT(*) FROM (SELECT city FROM visits UNION ALL SELECT age FROM visits) t
=> MZ1813 UNION

-- UNION ALL of different widths
SELECT COUNT(*) FROM (SELECT city FROM visits UNION ALL SELECT age, city FROM visits) t
=> MZ1838 columns

-- C1: EXCEPT
SELECT COUNT(*) FROM (SELECT person FROM visits EXCEPT SELECT person FROM people) t
=> MZ1817 EXCEPT

-- C1: INTERSECT
SELECT COUNT(*) FROM (SELECT person FROM visits INTERSECT SELECT person FROM people) t
=> MZ1817 INTERSECT

-- UNION BY NAME
SELECT COUNT(*) FROM (SELECT person FROM visits UNION ALL BY NAME SELECT person FROM people) t
=> MZ1817 BY NAME

-- C1: a scalar subquery
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)
=> MZ1814 subquery

-- C1: IN a subquery
SELECT COUNT(*) FROM visits WHERE person IN (SELECT person FROM people)
=> MZ1814 join instead

-- C1: IN a subquery over a public table
SELECT COUNT(*) FROM visits WHERE city IN (SELECT city FROM cities)
=> MZ1814 join instead

-- C1: EXISTS
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM people p WHERE p.person = v.person)
=> MZ1814 subquery

-- C1: ANY
SELECT COUNT(*) FROM visits WHERE cost > ANY (SELECT income FROM people)
=> MZ1814 subquery

-- C1: a subquery as a column
SELECT (SELECT COUNT(*) FROM people) AS n, COUNT(*) FROM visits
=> MZ1814 subquery

-- C1: a window function
SELECT SUM(r) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY person ORDER BY cost) AS r FROM visits) t
=> MZ1815 window

-- C1: a window over the answer
SELECT city, SUM(COUNT(*)) OVER () AS n FROM visits GROUP BY city
=> MZ1815 window

-- C1: QUALIFY
SELECT city, COUNT(*) AS n FROM visits GROUP BY city QUALIFY n > 3
=> MZ1815 window

-- ROLLUP
SELECT city, COUNT(*) FROM visits GROUP BY ROLLUP(city)
=> MZ1816 GROUP BY

-- CUBE
SELECT city, insured, COUNT(*) FROM visits GROUP BY CUBE(city, insured)
=> MZ1816 GROUP BY

-- GROUPING SETS
SELECT city, COUNT(*) FROM visits GROUP BY GROUPING SETS ((city), ())
=> MZ1816 GROUP BY

-- a recursive WITH
WITH RECURSIVE t AS (SELECT person FROM visits UNION ALL SELECT person FROM t) SELECT COUNT(*) FROM t
=> MZ1818 RECURSIVE

-- C7: random noise in SQL
SELECT COUNT(*) + random() FROM visits
=> MZ1811 random

-- C7: the time
SELECT COUNT(*) FROM visits WHERE at < now()
=> MZ1811 now

-- C7: today
SELECT COUNT(*) FROM visits WHERE day < current_date
=> MZ1811 current_date

-- C7: a new id for each row
SELECT COUNT(DISTINCT uuid()) FROM visits
=> MZ1811 uuid

-- C7: the session
SELECT COUNT(*) FROM visits WHERE @@version = '1'
=> MZ1811 @@version

-- C7: the user
SELECT COUNT(*) FROM visits WHERE clinic = current_user
=> MZ1811 current_user

-- an unknown function
SELECT COUNT(*) FROM visits WHERE frobnicate(age) > 1
=> MZ1810 no function frobnicate

-- a function that is misspelt
SELECT MEDAIN(age) FROM visits
=> MZ1810 did you mean median

-- string_agg shows rows
SELECT string_agg(clinic, ',') FROM visits
=> MZ1810 string_agg

-- array_agg shows rows
SELECT array_agg(cost) FROM visits
=> MZ1810 array_agg

-- first_value shows a row
SELECT first_value(cost) FROM visits
=> MZ1810 first_value

-- an operating system function
SELECT COUNT(*) FROM visits WHERE pg_read_file('/etc/passwd') = ''
=> MZ1810 no function

-- an unknown dataset
SELECT COUNT(*) FROM vists
=> MZ1808 did you mean visits

-- SQL injection in a name is an unknown dataset
SELECT COUNT(*) FROM "visits; DROP TABLE visits"
=> MZ1808 no dataset

-- a path is an unknown dataset
SELECT COUNT(*) FROM '/etc/passwd'
=> MZ1808 no dataset

-- a file is an unknown dataset
SELECT COUNT(*) FROM "visits.csv"
=> MZ1808 no dataset

-- the information schema is an unknown dataset
SELECT COUNT(*) FROM information_schema.tables
=> MZ1808 no dataset

-- a name with capitals needs quotes
SELECT COUNT(*) FROM Mixed
=> MZ1808 no dataset

-- a WITH is not seen outside
SELECT COUNT(*) FROM (WITH a AS (SELECT * FROM visits) SELECT * FROM a) t, a
=> MZ1808 no dataset

-- an unknown column
SELECT SUM(csot) FROM visits
=> MZ1809 did you mean cost

-- an unknown column with capitals
SELECT SUM(total) FROM "Mixed Case"
=> MZ1809 with its quotes

-- a column of two tables
SELECT COUNT(person) FROM visits v JOIN people p ON v.person = p.person
=> MZ1809 several tables

-- SQL injection in a column
SELECT COUNT(*) FROM visits WHERE "age; DROP TABLE visits" = 1
=> MZ1809 no column

-- EXPLAIN shows plans
EXPLAIN SELECT COUNT(*) FROM visits
=> MZ1803 EXPLAIN PRIVACY

-- EXPLAIN ANALYZE prints exact row counts
EXPLAIN ANALYZE SELECT COUNT(*) FROM visits
=> MZ1803 EXPLAIN PRIVACY

-- INSERT
INSERT INTO visits VALUES (1)
=> MZ1803 INSERT

-- UPDATE
UPDATE visits SET cost = 0
=> MZ1803 UPDATE

-- DELETE
DELETE FROM visits
=> MZ1803 DELETE

-- DROP
DROP TABLE visits
=> MZ1803 DROP

-- CREATE
CREATE TABLE t AS SELECT * FROM visits
=> MZ1803 CREATE

-- CREATE EXTERNAL TABLE
CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'
=> MZ1803 CREATE

-- COPY
COPY visits TO '/tmp/x.csv'
=> MZ1803 COPY

-- DuckDB: the analyst cannot switch noise off
SET privacy = off
=> MZ1803 SET

-- SHOW
SHOW TABLES
=> MZ1803 SHOW

-- DESCRIBE
DESCRIBE visits
=> MZ1803 dataset show

-- VALUES
VALUES (1), (2)
=> MZ1807 VALUES

-- VALUES in FROM
SELECT COUNT(*) FROM (VALUES (1)) t
=> MZ1807 VALUES

-- several statements
SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits
=> MZ1804 one query

-- SQL injection by a second statement
SELECT COUNT(*) FROM visits; DROP TABLE visits
=> MZ1804 one query

-- a parameter
SELECT COUNT(*) FROM visits WHERE age = $1
=> MZ1806 $1

-- a parameter of another kind
SELECT COUNT(*) FROM visits WHERE age = ?
=> MZ1806 ?

-- SELECT INTO
SELECT COUNT(*) INTO t FROM visits
=> MZ1807 INTO

-- FOR UPDATE
SELECT COUNT(*) FROM visits FOR UPDATE
=> MZ1807 FOR UPDATE

-- LATERAL
SELECT COUNT(*) FROM visits v, LATERAL (SELECT v.cost) t
=> MZ1807 LATERAL

-- UNNEST
SELECT COUNT(*) FROM UNNEST([1, 2])
=> MZ1807 UNNEST

-- a table function
SELECT COUNT(*) FROM generate_series(1, 10)
=> MZ1807 table function

-- TABLESAMPLE
SELECT COUNT(*) FROM visits TABLESAMPLE (10)
=> MZ1807 TABLESAMPLE

-- Snowflake: an earlier version of the data
SELECT COUNT(*) FROM visits FOR SYSTEM_TIME AS OF '2020-01-01'
=> MZ1802 SYSTEM_TIME

-- PIVOT
SELECT * FROM visits PIVOT (SUM(cost) FOR city IN ('Berlin'))
=> MZ1807 PIVOT

-- TOP
SELECT TOP 1 COUNT(*) FROM visits
=> MZ1807 TOP

-- DISTINCT ON
SELECT DISTINCT ON (city) city, COUNT(*) FROM visits GROUP BY city
=> MZ1807 DISTINCT ON

-- FETCH
SELECT COUNT(*) FROM visits FETCH FIRST 1 ROW ONLY
=> MZ1807 FETCH

-- an aggregate of an aggregate
SELECT SUM(COUNT(*)) FROM visits
=> MZ1834 aggregate

-- SUM DISTINCT
SELECT SUM(DISTINCT cost) FROM visits
=> MZ1834 DISTINCT

-- SUM of text
SELECT SUM(clinic) FROM visits
=> MZ1834 numbers

-- MIN of text shows a value of a row
SELECT MIN(clinic) FROM visits
=> MZ1834 text

-- MEDIAN of booleans
SELECT MEDIAN(insured) FROM visits
=> MZ1834 boolean

-- COUNT of several columns
SELECT COUNT(city, clinic) FROM visits
=> MZ1834 several

-- a quantile that is not a number from 0 to 1
SELECT quantile(cost, 1.5) FROM visits
=> MZ1834 from 0 to 1

-- a quantile that depends on rows
SELECT quantile(cost, age) FROM visits
=> MZ1834 from 0 to 1

-- a median within a person
SELECT AVG(m) FROM (SELECT person, MEDIAN(cost) AS m FROM visits GROUP BY person) t
=> MZ1834 within one person

-- public groups without an aggregate
SELECT city FROM visits GROUP BY city
=> MZ1834 no aggregate is selected

-- two accounts
SELECT COUNT(*) FROM visits v JOIN elsewhere e ON v.person = e.person
=> MZ1830 different accounts

-- a unit that is not a column
SELECT COUNT(*) FROM broken
=> MZ1831 unit

-- two released results in one query
SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM people
=> MZ1835 one query for each

-- answers joined with each other
SELECT a.n - b.n FROM (SELECT COUNT(*) AS n FROM visits) a, (SELECT COUNT(*) AS n FROM people) b
=> MZ1835 one query for each

-- a filter after LIMIT
SELECT * FROM (SELECT city, COUNT(*) AS n FROM visits GROUP BY city LIMIT 2) t WHERE n > 1
=> MZ1835 LIMIT last

-- DISTINCT over aggregates without their keys
SELECT DISTINCT COUNT(*) AS n FROM visits GROUP BY city
=> MZ1835 DISTINCT

-- two columns of one name
SELECT COUNT(*) AS n, SUM(cost) AS n FROM visits
=> MZ1836 AS

-- a text that is not a date
SELECT COUNT(*) FROM visits WHERE day > '2024-13-01'
=> MZ1837 not a valid date

-- a text that is not a number
SELECT COUNT(*) FROM visits WHERE age = 'old'
=> MZ1837 is not a valid

-- NULL in a list
SELECT COUNT(*) FROM visits WHERE age NOT IN (1, NULL)
=> MZ1837 NULL

-- a LIMIT that is computed from rows
SELECT COUNT(*) FROM visits LIMIT age
=> MZ1809 no column

-- a comparison of text and numbers
SELECT COUNT(*) FROM visits WHERE clinic > age
=> MZ1813 CAST

-- a number as a condition
SELECT COUNT(*) FROM visits WHERE age
=> MZ1813 condition

-- arithmetic with text
SELECT COUNT(*) FROM visits WHERE clinic + clinic > 1
=> MZ1813 numbers

-- an interval added to a column
SELECT COUNT(*) FROM visits WHERE day + INTERVAL '1' DAY > DATE '2024-01-01'
=> MZ1813 INTERVAL

-- the difference of two dates
SELECT COUNT(*) FROM visits WHERE day - DATE '2024-01-01' > 3
=> MZ1813 dates

-- a pattern that is computed from rows
SELECT COUNT(*) FROM visits WHERE city LIKE clinic
=> MZ1812 LIKE

-- a regular expression
SELECT COUNT(*) FROM visits WHERE clinic SIMILAR TO 'a+'
=> MZ1812 regular expressions

-- a regular expression as an operator
SELECT COUNT(*) FROM visits WHERE clinic ~ 'a+'
=> MZ1812 operator

-- an array
SELECT COUNT(*) FROM visits WHERE [1, 2][1] = age
=> MZ1812 arrays

-- a time zone
SELECT COUNT(*) FROM visits WHERE at AT TIME ZONE 'Europe/Berlin' > at
=> MZ1812 UTC

-- a collation
SELECT COUNT(*) FROM visits WHERE clinic COLLATE "de" = 'x'
=> MZ1812 bytes

-- a bucket whose width is computed from rows
SELECT bucket(age, minutes) AS b, COUNT(*) FROM visits GROUP BY 1
=> MZ1813 width

-- a bucket of width zero
SELECT bucket(age, 0) AS b, COUNT(*) FROM visits GROUP BY 1
=> MZ1813 width

-- a unit of time that does not exist
SELECT date_trunc('fortnight', day) AS f, COUNT(*) FROM visits GROUP BY 1
=> MZ1812 no such unit

-- an unclosed text
SELECT COUNT(*) FROM visits WHERE clinic = 'x
=> MZ1802 not SQL

-- a text that is not SQL
SELECT COUNT(* FROM visits
=> MZ1802 expected

-- an empty statement
;
=> MZ1804 SELECT

-- a column that is not grouped by
SELECT city, clinic, COUNT(*) FROM visits GROUP BY city
=> MZ1838 GROUP BY
